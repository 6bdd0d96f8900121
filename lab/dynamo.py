#!/usr/bin/env python3
"""Starts a real Dynamo to look at: mockers, which are workers without a GPU, and the frontend that routes to them.

They find each other by files (DYN_FILE_KV), so neither etcd nor NATS is needed, and live in one new network namespace
that has only loopback, since their event plane listens on every address. When all are ready, one JSON line says where
things are; then this stays in the foreground until its standard input closes (unless --stay) or it gets SIGTERM, and
ends what it started. Enter the namespace with: nsenter -t NETNS_PID -n COMMAND

Standard library only; needs root, and install-dynamo.sh.
"""

import argparse
import json
import os
import pathlib
import shlex
import time

import servers
from servers import HERE, fetch, listens, page

VERSION = "1.6.1"


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    servers.add_server_arguments(p, boot_timeout=60)
    p.add_argument("--flavour", choices=("vllm", "sglang", "trtllm"), default="vllm", help="whose series a worker has")
    p.add_argument("--metrics-off", action="store_true", help="workers without a system port (DYN_SYSTEM_PORT unset)")
    p.add_argument("--workers", type=int, default=1)
    p.add_argument("--blocks", type=int, default=256, help="of each worker's pool")
    p.add_argument("--block-size", type=int, default=16)
    p.add_argument("--max-num-seqs", type=int, default=16)
    p.add_argument("--speedup-ratio", type=float, default=5)
    p.add_argument("--router-mode", default="kv", help="of the frontend; only kv estimates the workers' blocks")
    p.add_argument("--frontend-port", type=int, default=18000)
    p.add_argument("--system-port", type=int, default=18081, help="the first worker's; the others follow")
    p.add_argument("--kv-events-port", type=int, default=15557, help="likewise")
    p.add_argument("--more", action="append", default=[], metavar="SERVER=ARGS", help="of frontend or worker")
    options = p.parse_args()
    options.more = dict(m.split("=", 1) for m in options.more)
    return options


class Dynamo(servers.Servers):
    def __init__(self, options):
        super().__init__(options)
        self.tree = options.folder / "discovery"
        self.python = str(options.lab / f"dynamo-{VERSION}/bin/python")

    def environment(self):
        kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "TZ")}
        home = self.options.folder / "home"  # the frontend keeps a copy of the model's files there
        home.mkdir(exist_ok=True)
        loopback = ("HTTP", "SYSTEM", "EVENT_PLANE", "TCP_RPC", "TCP_RESPONSE_STREAM")
        return {
            **kept,
            "HOME": str(home),
            "TMPDIR": str(home),
            "HF_HUB_OFFLINE": "1",
            "PYTHONUNBUFFERED": "1",
            "DYN_SDK_DISABLE_ANSI_LOGGING": "1",
            "DYN_DISCOVERY_BACKEND": "file",
            "DYN_FILE_KV": str(self.tree),
            **{f"DYN_{name}_HOST": "127.0.0.1" for name in loopback},
        }

    def worker(self, number):
        o = self.options
        name = f"worker-{number}"
        events = o.kv_events_port + number
        endpoint = f"tcp://127.0.0.1:{events}"
        events_file = self.follow_events(f"{name}-kv-events", self.python, endpoint)
        command = [
            self.python, "-m", "dynamo.mocker",
            "--model-path", str(o.lab / "model"), "--model-name", "tiny",
            "--engine-type", o.flavour, "--num-gpu-blocks-override", str(o.blocks), "--block-size", str(o.block_size),
            "--max-num-seqs", str(o.max_num_seqs), "--speedup-ratio", str(o.speedup_ratio),
            "--discovery-backend", "file", "--zmq-kv-events-ports", str(events),
            *shlex.split(o.more.get("worker", "")),
        ]  # fmt: skip
        environment = {} if o.metrics_off else {"DYN_SYSTEM_PORT": str(o.system_port + number)}
        told = self.start(name, command, **environment)
        if not o.metrics_off:
            told |= {"port": o.system_port + number, "url": f"http://127.0.0.1:{o.system_port + number}"}
        return told | {
            "blocks": o.blocks, "block_size": o.block_size, "kv_events": endpoint, "events_file": events_file,
        }  # fmt: skip

    def frontend(self):
        port = self.options.frontend_port
        command = [
            self.python, "-m", "dynamo.frontend",
            "--http-host", "127.0.0.1", "--http-port", str(port),
            "--router-mode", self.options.router_mode, "--discovery-backend", "file",
            *shlex.split(self.options.more.get("frontend", "")),
        ]  # fmt: skip
        return self.start("frontend", command) | {"port": port, "url": f"http://127.0.0.1:{port}"}

    def boot(self):
        began = time.monotonic()
        deadline = began + self.options.boot_timeout
        workers = {f"worker-{number}": self.worker(number) for number in range(self.options.workers)}
        told_of_all = {"frontend": self.frontend(), **workers}
        for name, told in workers.items():
            self.wait_until(lambda t=told: self.worker_ready(t), name, deadline)
        self.wait_until(self.frontend_ready, "frontend", deadline)
        for name, told in workers.items():
            told["worker_id"] = self.worker_id(told)
        metrics = self.options.folder / "kv-metrics.jsonl"
        self.start("kv-metrics", [self.python, str(HERE / "dynamo_metrics.py"), str(self.tree), str(metrics)])
        return {
            "netns_pid": os.getpid(), "version": VERSION, "flavour": self.options.flavour,
            "logs": str(self.options.folder), "discovery": str(self.tree), "kv_metrics_file": str(metrics),
            "servers": told_of_all,
            "boot_s": round(time.monotonic() - began, 1),
        }  # fmt: skip

    def cards(self):
        """What each worker says of itself in the discovery tree."""
        cards = []
        for path in (self.tree / "v1/mdc").glob("*"):
            try:
                cards.append(json.loads(path.read_text()))
            except (OSError, ValueError):
                pass  # it is being written
        return cards

    def worker_id(self, told):
        """By its log; the tree does not say which process wrote what."""
        said = pathlib.Path(told["log"]).read_text(errors="replace")
        ids = [card["instance_id"] for card in self.cards() if f"worker {card['instance_id']}" in said]
        return str(ids[0]) if len(ids) == 1 else None

    def worker_ready(self, told):
        has_figures = "port" not in told or "dynamo_component_uptime_seconds" in (page(told["port"]) or "")
        return has_figures and self.worker_id(told) is not None

    def frontend_ready(self):
        port = self.options.frontend_port
        if not listens(port) or not (fetch(port, "/v1/models") or {}).get("data"):
            return False
        # A router that counts what it sends says of which workers; the others say of none.
        registered = [line for line in (page(port) or "").splitlines() if "router_worker_registered{" in line]
        known = sum(line.endswith(" 1") for line in registered)
        return self.options.router_mode != "kv" or known >= self.options.workers


if __name__ == "__main__":
    servers.main("dynamo", Dynamo, parse_arguments())
