#!/bin/bash
# Installs SGLang 0.5.9 beside the lab of install.sh, for the long test suite only.
# Same folder and exit codes as install.sh.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

begin sglang-0.5.9 install-older.sh common.sh sglang/sglang-0.5.9.lock \
    sglang/cuda_stubs.py sglang/sgl_kernel_stub.py sglang/tiny_model.py
need_uv
new_environment sglang-0.5.9
adapt_to_cpu sglang-0.5.9
[ -d "$lab/model" ] || "$lab/sglang-0.5.9/bin/python" "$files/sglang/tiny_model.py" "$lab/model"
"$lab/sglang-0.5.9/bin/python" -c 'import torch, sgl_kernel, zmq, msgspec' || fail "the environment does not load"
finish
