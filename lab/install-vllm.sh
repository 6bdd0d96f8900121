#!/bin/bash
# Installs vLLM 0.32.0's build for CPUs beside the lab of install.sh, and LMCache 0.5.6 with it.
# Same folder and exit codes as install.sh; 75 also where the disk has no room for it.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

room=5000 # MB: what stays is half of it
begin vllm-0.32.0 install-vllm.sh common.sh vllm/vllm-0.32.0.lock dynamo/tiny_model.py sglang/cuda_stubs.py
environment=$lab/vllm-0.32.0
rm -rf "$environment"
free=$(df --output=avail -BM "$lab" | tail -n 1 | tr -dc 0-9)
[ "$free" -ge "$room" ] || skip "vLLM needs $room MB in $lab, where $free MB are free"
need_uv
"$lab/uv/bin/uv" venv -q --no-config --python "$python" "$environment"
say "packages of vllm-0.32.0"
from_registry vllm-0.32.0 "$lab/uv/bin/uv" pip install -q --no-config --no-deps --require-hashes \
    --python "$environment/bin/python" -r "$files/vllm/vllm-0.32.0.lock"
packages=$("$environment/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
"$python" "$files/sglang/cuda_stubs.py" "$packages/torch/lib"
"$environment/bin/python" "$files/dynamo/tiny_model.py" "$environment/model"
# The parts that fail to load where a library is missing, before a server does so a minute later.
VLLM_NO_USAGE_STATS=1 "$environment/bin/python" -W ignore -c \
    'import torch, vllm._C, vllm.entrypoints.openai.api_server, zmq, msgspec, lmcache.v1.multiprocess.http_server' \
    >/dev/null 2>&1 || fail "the environment does not load"
finish
