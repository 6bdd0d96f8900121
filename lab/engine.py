#!/usr/bin/env python3
"""Starts one more real engine to look at, without a GPU:

  engine.py llamacpp     llama-server (install-llamacpp.sh)
  engine.py vllm         vLLM's build for CPUs (install-vllm.sh)
  engine.py lmcache      LMCache's server, a store beside engines (install-vllm.sh)

It lives in a new network namespace that has only loopback. When it is ready, one JSON line says where things are, and
the command of a load for it; then this stays in the foreground until its standard input closes (unless --stay) or it
gets SIGTERM, and ends what it started. Enter the namespace with: nsenter -t NETNS_PID -n COMMAND

Standard library only; needs root.
"""

import argparse
import json
import os
import shlex
import sys
import time

import servers
from servers import HERE, fetch, listens

VERSIONS = {"llamacpp": "11434", "vllm": "0.32.0", "lmcache": "0.5.6"}
ENVIRONMENT = {  # no hub, nobody told, one thread
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

# Twelve requests at once, of 21 blocks of 32 tokens each: more than vLLM's pool holds.
LOAD = "--completions -n 60 -p 464 -o 200 -c 12 --prefix 64".split()


def parse_arguments():
    every = argparse.ArgumentParser(add_help=False)
    servers.add_server_arguments(every, boot_timeout=300)
    every.add_argument("--more", default="", metavar="ARGS", help="further arguments of the engine")
    every.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="in the engine's environment")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    engines = parser.add_subparsers(dest="engine", required=True)

    p = engines.add_parser("llamacpp", parents=[every])
    p.add_argument("--port", type=int, default=18300)
    p.add_argument("--context", type=int, default=4096, help="tokens of the pool (-c)")
    p.add_argument("--slots", type=int, default=4, help="what shares it (-np); 0: not said, so its default")
    p.add_argument("--unified", action="store_true", help="one pool for all slots (-kvu)")
    p.add_argument("--no-metrics", action="store_true", help="without --metrics")
    p.add_argument("--no-slots", action="store_true")

    p = engines.add_parser("vllm", parents=[every])
    p.add_argument("--port", type=int, default=18100)
    p.add_argument("--blocks", type=int, default=128, help="of its pool, the reserved one with them")
    p.add_argument("--block-size", type=int, default=32, help="on a CPU a multiple of 32")
    p.add_argument("--disable-log-stats", action="store_true")
    p.add_argument("--log-interval", type=float, default=10, help="seconds between two log lines of figures")
    p.add_argument("--no-kv-events", action="store_true")
    p.add_argument("--ranks", type=int, default=1, help="data-parallel, each with a pool and with events of its own")
    p.add_argument("--kv-events-port", type=int, default=15557, help="of rank 0; replayed 50 above it")

    p = engines.add_parser("lmcache", parents=[every])
    p.add_argument("--port", type=int, default=18200, help="of its HTTP server")
    p.add_argument("--engines-port", type=int, default=16555)
    p.add_argument("--l1-gb", type=float, default=0.0625, help="size of its memory tier, in units of 2^30 bytes")
    p.add_argument("--disable-observability", action="store_true")

    options = parser.parse_args()
    options.set = dict(s.split("=", 1) for s in options.set)
    return options


class Engine(servers.Servers):
    def __init__(self, options):
        super().__init__(options)
        self.python = str(options.lab / f"vllm-{VERSIONS['vllm']}/bin/python")

    def environment(self):
        kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "TZ")}
        home = self.options.folder / "home"
        home.mkdir(exist_ok=True)
        return {**kept, "HOME": str(home), "TMPDIR": str(home), **ENVIRONMENT}

    def load(self, *more):
        return [sys.executable, str(HERE / "load.py"), str(self.options.port), *LOAD, *more]

    def llamacpp(self):
        o = self.options
        folder = o.lab / f"llamacpp-{VERSIONS['llamacpp']}"
        command = [
            str(folder / "llama-server"), "-m", str(folder / "tiny.gguf"), "--alias", "tiny",
            "--host", "127.0.0.1", "--port", str(o.port), "-t", "1", "-c", str(o.context),
            *(["-np", str(o.slots)] if o.slots else []), *["-kvu"] * o.unified,
            *["--metrics"] * (not o.no_metrics), *["--no-slots"] * o.no_slots,
        ]  # fmt: skip
        return command, {}, {"tokens": o.context, "load": self.load()}

    def vllm(self):
        o = self.options
        # vLLM's own balance was seen to leave one rank below a third, so each request says for which one it is.
        load = self.load(*(["--ranks", str(o.ranks)] if o.ranks > 1 else []))
        events, about = [], {"blocks": o.blocks, "block_size": o.block_size, "load": load}
        if not o.no_kv_events:
            settings = {
                "enable_kv_cache_events": True, "publisher": "zmq", "topic": "kv-events",
                "endpoint": f"tcp://*:{o.kv_events_port}", "replay_endpoint": f"tcp://*:{o.kv_events_port + 50}",
            }  # fmt: skip
            events = ["--kv-events-config", json.dumps(settings)]
            about["ranks"] = [self.follow(rank) for rank in range(o.ranks)]
        command = [
            self.python, "-m", "vllm.entrypoints.openai.api_server",  # `vllm serve` wants a package named vllm
            "--model", str(o.lab / "model"), "--served-model-name", "tiny",
            "--load-format", "dummy", "--host", "127.0.0.1", "--port", str(o.port),
            "--max-model-len", "1024", "--max-num-seqs", "16", "--enforce-eager",
            "--num-gpu-blocks-override", str(o.blocks), "--block-size", str(o.block_size),
            *events, *["--disable-log-stats"] * o.disable_log_stats,
            *(["--data-parallel-size", str(o.ranks)] if o.ranks > 1 else []),
        ]  # fmt: skip
        # Set only where it is not the default, since it is a thing to find.
        return command, {} if o.log_interval == 10 else {"VLLM_LOG_STATS_INTERVAL": str(o.log_interval)}, about

    def follow(self, rank):
        port = self.options.kv_events_port + rank
        endpoint = f"tcp://127.0.0.1:{port}"
        events_file = self.follow_events(f"kv-events-{rank}", self.python, endpoint)
        return {"kv_events": endpoint, "kv_replay": f"tcp://127.0.0.1:{port + 50}", "events_file": events_file}

    def lmcache(self):
        o = self.options
        program = [self.python, "-W", "ignore", str(o.lab / f"vllm-{VERSIONS['vllm']}/bin/lmcache")]
        command = [
            *program, "server", "--host", "127.0.0.1", "--port", str(o.engines_port),
            "--http-host", "127.0.0.1", "--http-port", str(o.port), "--l1-size-gb", str(o.l1_gb),
            "--eviction-policy", "LRU", "--chunk-size", "32", "--supported-transfer-mode", "auto",
            "--metrics-sample-rate", "1.0", *["--disable-observability"] * o.disable_observability,
        ]  # fmt: skip
        load = [
            *program, "bench", "server", "--mode", "cpu", "--rpc-url", f"tcp://127.0.0.1:{o.engines_port}",
            "--url", f"http://127.0.0.1:{o.port}", "--num-tokens", "512", "--start", "0", "--end", "40",
            "--interval", "0.05", "--flamegraph", "off",
        ]  # fmt: skip
        return command, {}, {"bytes": int(o.l1_gb * 2**30), "load": load}

    def boot(self):
        o = self.options
        command, environment, about = getattr(self, o.engine)()
        command += shlex.split(o.more)
        if listens(o.port):
            raise SystemExit(f"lab: port {o.port} is taken")
        began, started_at = time.monotonic(), time.time()
        told = self.start(o.engine, command, **environment, **o.set)
        self.wait_until(self.ready, o.engine, began + o.boot_timeout)
        told |= {"port": o.port, "url": f"http://127.0.0.1:{o.port}", "started_at": started_at, **about}
        return {
            "netns_pid": os.getpid(), "engine": o.engine, "version": VERSIONS[o.engine], "logs": str(o.folder),
            "servers": {o.engine: told}, "boot_s": round(time.monotonic() - began, 1),
        }  # fmt: skip

    def ready(self):
        # Not by /health, which makes some engines compute.
        return fetch(self.options.port, "/" if self.options.engine == "lmcache" else "/v1/models") is not None


if __name__ == "__main__":
    servers.main("engine", Engine, parse_arguments())
