#!/usr/bin/env python3
"""Starts one more real engine to look at, without a GPU:

  engine.py llamacpp     llama-server (install-llamacpp.sh), load: dynamo_load.py 18300
  engine.py vllm         vLLM's build for CPUs (install-vllm.sh), load: dynamo_load.py 18100
  engine.py lmcache      LMCache's server, a store beside engines (install-vllm.sh), load: its own, in the JSON line

It lives in a new network namespace that has only loopback. When it is ready, one JSON line says where things are; then
this stays in the foreground until its standard input closes (unless --stay) or it gets SIGTERM, and ends what it
started. Enter the namespace with: nsenter -t NETNS_PID -n COMMAND

Standard library only; needs root.
"""

import argparse
import json
import os
import pathlib
import shlex
import shutil
import signal
import sys
import time

import deploy
import dynamo
from deploy import HERE, INSIDE, Stop, fetch

VERSIONS = {"llamacpp": "11434", "vllm": "0.32.0", "lmcache": "0.5.6"}
ENVIRONMENT = {  # one thread each, no hub, nobody told
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONUNBUFFERED": "1",
    "DO_NOT_TRACK": "1",
    "LMCACHE_TRACK_USAGE": "false",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_HOST_IP": "127.0.0.1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
}


def parse_arguments():
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--lab", type=pathlib.Path, default=deploy.default_lab(), help="where the installs put things")
    shared.add_argument("--stay", action="store_true", help="do not end when standard input closes")
    shared.add_argument("--folder", type=pathlib.Path, help="for logs and events (default: a new one)")
    shared.add_argument("--keep", action="store_true", help="leave the folder behind")
    shared.add_argument("--boot-timeout", type=float, default=300, metavar="S")
    shared.add_argument("--more", default="", metavar="ARGS", help="further arguments of the engine")
    shared.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="in its environment")
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    engines = p.add_subparsers(dest="engine", required=True)

    p = engines.add_parser("llamacpp", parents=[shared])
    p.add_argument("--port", type=int, default=18300)
    p.add_argument("--context", type=int, default=4096, help="tokens of the pool (-c)")
    p.add_argument("--slots", type=int, default=4, help="that share it out, or share it (-np); 0: as it likes")
    p.add_argument("--unified", action="store_true", help="one pool for all slots (-kvu)")
    p.add_argument("--no-metrics", action="store_true", help="without --metrics")
    p.add_argument("--no-slots", action="store_true")

    p = engines.add_parser("vllm", parents=[shared])
    p.add_argument("--port", type=int, default=18100)
    p.add_argument("--blocks", type=int, default=128, help="of its pool, the reserved one with them")
    p.add_argument("--block-size", type=int, default=32, help="on a CPU a multiple of 32")
    p.add_argument("--disable-log-stats", action="store_true")
    p.add_argument("--log-interval", type=float, default=10, help="seconds between two log lines of figures")
    p.add_argument("--no-kv-events", action="store_true")
    p.add_argument("--kv-events-port", type=int, default=15557, help="the next one replays")

    p = engines.add_parser("lmcache", parents=[shared])
    p.add_argument("--port", type=int, default=18200, help="of its HTTP server")
    p.add_argument("--engines-port", type=int, default=16555)
    p.add_argument("--l1-gb", type=float, default=0.0625, help="size of its memory tier, in units of 2^30 bytes")
    p.add_argument("--disable-observability", action="store_true")

    options = engines.parse_args() if False else sys.modules["argparse"] and None
    return options


