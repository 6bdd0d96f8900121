#!/bin/bash
# Installs SGLang 0.5.9 beside the lab of install.sh, for the long test suite only.
# Same folder and exit codes as install.sh.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$files/environments.sh"

need_packages gcc binutils # for the stubs
begin sglang-0.5.9 install-older.sh environments.sh sglang/sglang-0.5.9.lock \
    cuda_stubs.py sglang/sgl_kernel_stub.py tiny_model.py
need_uv
new_environment sglang/sglang-0.5.9.lock
sglang_on_cpu
"$environment/bin/python" -P -c 'import torch, sgl_kernel, zmq, msgspec' || fail "the environment does not load"
need_model
finish
