#!/bin/bash
# Installs vLLM 0.32.0's build for CPUs beside the lab of install.sh, and LMCache 0.5.6 with it.
# Same folder and exit codes as install.sh; 75 also where the disk has no room for it.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$files/environments.sh"

room=5000 # MB: what stays is half of it
# vLLM's kernels link to the first; the stubs are made with gcc and readelf.
need_packages libnuma1 gcc binutils
begin vllm-0.32.0 install-vllm.sh environments.sh vllm/vllm-0.32.0.lock cuda_stubs.py tiny_model.py
rm -rf "$lab/vllm-0.32.0" # it would take up the room
free=$(df --output=avail -BM "$lab" | tail -n 1 | tr -dc 0-9)
[ "$free" -ge "$room" ] || skip "vLLM needs $room MB in $lab, where $free MB are free"
need_uv
new_environment vllm/vllm-0.32.0.lock --require-hashes
without_cuda
# The parts that fail to load where a library is missing, before a server does so a minute later.
VLLM_NO_USAGE_STATS=1 "$environment/bin/python" -P -W ignore -c \
    'import torch, vllm._C, vllm.entrypoints.openai.api_server, zmq, msgspec, lmcache.v1.multiprocess.http_server' \
    >/dev/null 2>&1 || fail "the environment does not load"
need_model
finish
