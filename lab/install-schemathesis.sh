#!/bin/bash
# Installs schemathesis, which holds the page's API against its description (schemathesis/run). 60 MB beside the lab of
# install.sh; same folder and exit codes.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$files/environments.sh"

begin schemathesis-4.32.5 install-schemathesis.sh environments.sh schemathesis/schemathesis-4.32.5.lock
need_uv
new_environment schemathesis/schemathesis-4.32.5.lock
"$environment/bin/schemathesis" --version >/dev/null || fail "schemathesis does not start"
finish
