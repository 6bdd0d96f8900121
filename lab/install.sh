#!/bin/bash
# Installs what the lab needs: SGLang 0.5.23 made to run on a CPU, the smg gateway, a tiny model.
# Folder: $PLIMSOLL_LAB, or plimsoll/lab in the user's cache. Exit 75: a registry did not answer.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

begin sglang-0.5.23 install.sh common.sh sglang/sglang-0.5.23.lock sglang/smg-1.13.0.lock \
    sglang/cuda_stubs.py sglang/sgl_kernel_stub.py sglang/cpu_prefill.py sglang/tiny_model.py
need_uv
new_environment sglang-0.5.23
adapt_to_cpu sglang-0.5.23
"$lab/sglang-0.5.23/bin/python" "$files/sglang/cpu_prefill.py"
new_environment smg-1.13.0
"$lab/sglang-0.5.23/bin/python" "$files/sglang/tiny_model.py" "$lab/model"
# The parts that fail to load where a library is missing, before a server does so minutes later.
"$lab/sglang-0.5.23/bin/python" -c 'import torch, sgl_kernel, mooncake.engine, zmq, msgspec' || fail "the environment does not load"
"$lab/smg-1.13.0/bin/python" -c 'import smg' || fail "smg does not load"
finish
