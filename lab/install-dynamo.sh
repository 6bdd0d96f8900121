#!/bin/bash
# Installs Dynamo 1.6.1 beside the lab of install.sh: the frontend, and the mocker, a worker that needs no GPU.
# Same folder and exit codes as install.sh. Nothing from Debian but Python.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$files/environments.sh"

begin dynamo-1.6.1 install-dynamo.sh environments.sh dynamo/dynamo-1.6.1.lock tiny_model.py
need_uv
new_environment dynamo/dynamo-1.6.1.lock --require-hashes
# The parts that fail to load where a library is missing, before a server does so. (-P: not our dynamo.py, which may be near.)
"$environment/bin/python" -P -c 'import dynamo.frontend.main, dynamo.mocker.main, zmq, msgspec' 2>/dev/null ||
    fail "the environment does not load"
need_model
finish
