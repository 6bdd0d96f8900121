#!/usr/bin/env python3
"""Starts real servers to look at: a prefill and a decode server behind the smg gateway, and with
--unified a server that does both.

All of them live in one new network namespace that has only loopback, since several of them listen
on every address whatever they are told. When each one is ready, one JSON line says where things
are; then this stays in the foreground until its standard input closes (unless --stay) or it gets
SIGTERM, and ends what it started. Enter the namespace with: nsenter -t NETNS_PID -n COMMAND

Standard library only; needs root.
"""

import argparse
import json
import os
import shlex
import time

import servers
from servers import fetch, listens

BOOT_TIMEOUT_S = 420
READY_LINE = "The server is fired up and ready to roll!"
ENGINES_ENVIRONMENT = {  # no GPU, no hub, KV over TCP
    "HF_HUB_OFFLINE": "1",
    "MC_FORCE_TCP": "1",
    # KV in a fragmented pool goes over in pieces of a token; when they do not fit this queue, mooncake
    # fails the transfer and SGLang takes the other server for dead, for up to 30 s (65535 is the most it accepts)
    "MC_TCP_MAX_PENDING_ADMISSIONS_PER_PEER": "65535",
    "MC_TCP_MAX_QUEUED_TRANSFERS_PER_PEER": "65535",
    "MOONCAKE_PROTOCOL": "tcp",
    "OMP_NUM_THREADS": "1",
    "PYTHONUNBUFFERED": "1",
    "SGLANG_HOST_IP": "127.0.0.1",
    "SGLANG_USE_CPU_ENGINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_OFFLINE": "1",
}


def add_deployment_arguments(p):
    """What units.py takes as well."""
    for name, port in (
        ("prefill", 30000),
        ("bootstrap", 8998),
        ("decode", 30002),
        ("router", 29000),
        ("prometheus", 29001),
        ("unified", 30010),
    ):
        p.add_argument(f"--{name}-port", type=int, default=port)
    p.add_argument("--prefill-tokens", type=int, default=65536, help="size of the KV pool")
    p.add_argument("--decode-tokens", type=int, default=65536)
    p.add_argument("--unified-tokens", type=int, default=65536)
    p.add_argument("--context-length", type=int, default=8192)
    p.add_argument("--load-monitor-interval", type=int, default=2, help="the gateway's; its own default is 10 s")


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    servers.add_server_arguments(p, boot_timeout=BOOT_TIMEOUT_S)
    add_deployment_arguments(p)
    p.add_argument("--servers", default="prefill,decode,router", help="comma-separated; also: unified")
    p.add_argument("--unified", action="store_true", help="the same as adding unified to --servers")
    p.add_argument("--kv-events-port", type=int, default=5557)
    p.add_argument("--decode-log-interval", type=int, default=10, help="decode steps between two log lines")
    p.add_argument("--whole-second-logs", action="store_true", help="log times as SGLang writes them by default")
    p.add_argument("--older", action="store_true", help="run unified with SGLang 0.5.9 (install-older.sh)")
    p.add_argument("--more", action="append", default=[], metavar="SERVER=ARGS", help="further arguments of a server")
    options = p.parse_args()
    wanted = [s for s in options.servers.split(",") if s]
    if options.unified and "unified" not in wanted:
        wanted.append("unified")
    unknown = set(wanted) - {"prefill", "decode", "router", "unified"}
    if unknown or not wanted:
        p.error(f"no such server: {', '.join(sorted(unknown))}" if unknown else "no server asked for")
    options.servers = wanted
    options.more = dict(m.split("=", 1) for m in options.more)
    return options


def sglang(options, engine, port, tokens, *arguments):
    fixed = (
        "--load-format dummy --device cpu --dtype bfloat16 --attention-backend torch_native "
        "--sampling-backend pytorch --grammar-backend none --disable-overlap-schedule --log-level info "
        # or each idle scheduler keeps a whole core busy with asking whether there is work
        "--sleep-on-idle"
    )
    return [
        str(options.lab / engine / "bin/python"), "-m", "sglang.launch_server",
        "--model-path", str(options.lab / "model"), "--served-model-name", "tiny-llama",
        "--host", "127.0.0.1", "--port", str(port),
        "--max-total-tokens", str(tokens), "--context-length", str(options.context_length),
        *(["--decode-log-interval", str(options.decode_log_interval)] if options.decode_log_interval else []),
        *fixed.split(), *arguments,
    ]  # fmt: skip


def commands(options):
    """{server: (what can be said of it beforehand, its command line)}"""
    newest = "sglang-0.5.23"
    disaggregation = ["--disaggregation-transfer-backend", "mooncake"]
    kv_events = {"publisher": "zmq", "topic": "kv-events", "endpoint": f"tcp://*:{options.kv_events_port}"}
    url = "http://127.0.0.1:{}".format
    return {
        "prefill": (
            {"port": options.prefill_port, "tokens": options.prefill_tokens, "metrics": True},
            sglang(
                options, newest, options.prefill_port, options.prefill_tokens, "--enable-metrics",
                "--disaggregation-mode", "prefill", *disaggregation,
                "--disaggregation-bootstrap-port", str(options.bootstrap_port),
            ),
        ),
        "decode": (
            {"port": options.decode_port, "tokens": options.decode_tokens, "metrics": False},
            sglang(
                options, newest, options.decode_port, options.decode_tokens,
                "--disaggregation-mode", "decode", *disaggregation,
                # its default keeps what it retracts in memory that only CUDA can give
                "--disaggregation-decode-retraction-backup", "cpu_tensor",
            ),
        ),
        "unified": (
            {"port": options.unified_port, "tokens": options.unified_tokens, "metrics": True,
             "kv_events": f"tcp://127.0.0.1:{options.kv_events_port}"},
            sglang(
                options, "sglang-0.5.9" if options.older else newest, options.unified_port, options.unified_tokens,
                "--enable-metrics", "--enable-cache-report", "--kv-events-config", json.dumps(kv_events),
                # low: it takes in more requests than will fit, and has to retract some
                "--schedule-conservativeness", "0.05",
            ),
        ),
        "router": (
            {"port": options.router_port, "prometheus_port": options.prometheus_port},
            [
                str(options.lab / "smg-1.13.0/bin/python"), str(options.lab / "smg-1.13.0/bin/smg"), "launch",
                "--host", "127.0.0.1", "--port", str(options.router_port),
                "--prometheus-host", "127.0.0.1", "--prometheus-port", str(options.prometheus_port),
                "--load-monitor-interval", str(options.load_monitor_interval),
                "--pd-disaggregation",
                "--prefill", url(options.prefill_port), str(options.bootstrap_port),
                "--decode", url(options.decode_port),
            ],
        ),
    }  # fmt: skip


def router_ready(about, workers):
    """Whether the gateway knows so many workers that are well, and tells its figures."""
    known = (fetch(about["port"], "/workers") or {}).get("workers", [])
    return sum(bool(w.get("is_healthy")) for w in known) >= workers and listens(about["prometheus_port"])


class Deployment(servers.Servers):
    def environment(self):
        """The engines' environment, with nothing of the caller's Python in it."""
        kept = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG", "TZ", "TMPDIR", "XDG_CACHE_HOME")}
        kept.update(ENGINES_ENVIRONMENT)
        if not self.options.whole_second_logs:
            kept["SGLANG_LOG_MS"] = "1"
        return kept

    def ready(self, name, about):
        if name == "router":
            return router_ready(about, sum(s in self.options.servers for s in ("prefill", "decode")))
        # Never by /health: that makes the engine generate, and so changes what is looked at.
        return READY_LINE in self.log(name) and fetch(about["port"], "/server_info") is not None

    def boot(self):
        began = time.monotonic()
        deadline = began + self.options.boot_timeout
        wanted = {n: c for n, c in commands(self.options).items() if n in self.options.servers}
        answer = {"netns_pid": os.getpid(), "logs": str(self.options.folder), "servers": {}}

        def wait_for(name):
            self.wait_until(lambda: self.ready(name, wanted[name][0]), name, deadline)

        for name, (about, command) in wanted.items():
            if name == "router":
                # It looks for its workers when it starts, so it comes last.
                for engine in [n for n in wanted if n != "router"]:
                    wait_for(engine)
            if name == "unified":
                python = str(self.options.lab / "sglang-0.5.23/bin/python")
                about["events_file"] = self.follow_events("kv-events", python, about["kv_events"])
            if any(listens(port) for key, port in about.items() if key.endswith("port")):
                raise SystemExit(f"lab: the port of {name} is taken")
            told = self.start(name, command + shlex.split(self.options.more.get(name, "")))
            answer["servers"][name] = {**told, "url": f"http://127.0.0.1:{about['port']}", **about}
        for name in wanted:
            wait_for(name)
        self.note_shared_memory()
        answer["boot_s"] = round(time.monotonic() - began, 1)
        return answer


if __name__ == "__main__":
    servers.main("lab", Deployment, parse_arguments())
