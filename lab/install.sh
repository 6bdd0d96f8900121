#!/bin/bash
# Installs what the lab needs: SGLang 0.5.23 made to run on a CPU, the smg gateway, a tiny model.
# Folder: $PLIMSOLL_LAB, or plimsoll/lab in the user's cache. Exit 75: a registry did not answer.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$files/environments.sh"

# Mooncake links to the first three; the stubs are made with gcc and readelf.
need_packages libibverbs1 libnuma1 libcurl4 gcc binutils
begin sglang-0.5.23 install.sh environments.sh sglang/sglang-0.5.23.lock sglang/smg-1.13.0.lock \
    cuda_stubs.py sglang/sgl_kernel_stub.py sglang/cpu_prefill.py tiny_model.py
need_uv
new_environment sglang/sglang-0.5.23.lock
sglang_on_cpu
"$environment/bin/python" "$files/sglang/cpu_prefill.py"
# The parts that fail to load where a library is missing, before a server does so minutes later.
"$environment/bin/python" -P -c 'import torch, sgl_kernel, mooncake.engine, zmq, msgspec' || fail "the environment does not load"
new_environment sglang/smg-1.13.0.lock
"$environment/bin/python" -P -c 'import smg' || fail "smg does not load"
need_model
finish
