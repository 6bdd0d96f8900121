#!/bin/bash
# Installs Dynamo 1.6.1 beside the lab of install.sh: the frontend, and the mocker, a worker that needs no GPU.
# Same folder and exit codes as install.sh.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need_packages() { :; } # nothing from Debian but Python, which begin looks for
begin dynamo-1.6.1 install-dynamo.sh common.sh dynamo/dynamo-1.6.1.lock dynamo/tiny_model.py
need_uv
environment=$lab/dynamo-1.6.1
rm -rf "$environment" "$lab/dynamo-model"
"$lab/uv/bin/uv" venv -q --no-config --python "$python" "$environment"
say "packages of dynamo-1.6.1"
from_registry dynamo-1.6.1 "$lab/uv/bin/uv" pip install -q --no-config --no-deps --require-hashes \
    --python "$environment/bin/python" -r "$files/dynamo/dynamo-1.6.1.lock"
"$environment/bin/python" "$files/dynamo/tiny_model.py" "$lab/dynamo-model"
# The parts that fail to load where a library is missing, before a server does so.
"$environment/bin/python" -c 'import dynamo.frontend.main, dynamo.mocker.main, zmq, msgspec' 2>/dev/null ||
    fail "the environment does not load"
finish
