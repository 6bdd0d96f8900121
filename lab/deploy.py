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
import ctypes
import fcntl
import json
import os
import pathlib
import select
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
INSIDE = "PLIMSOLL_LAB_INSIDE"  # set once we are in the namespace
READY_LINE = "The server is fired up and ready to roll!"
PR_SET_PDEATHSIG = 1
SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 0x1, 0x40
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


class Stop(Exception):
    """We were asked to end."""


def default_lab():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(os.environ.get("PLIMSOLL_LAB") or os.path.join(cache, "plimsoll", "lab"))


def add_shared_arguments(p):
    """What units.py takes as well."""
    p.add_argument("--lab", type=pathlib.Path, default=default_lab(), help="where install.sh put things")
    p.add_argument("--stay", action="store_true", help="do not end when standard input closes")
    p.add_argument("--boot-timeout", type=float, default=420, metavar="S")
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
    add_shared_arguments(p)
    p.add_argument("--logs", type=pathlib.Path, help="folder for logs and KV events (default: a new one)")
    p.add_argument("--servers", default="prefill,decode,router", help="comma-separated; also: unified")
    p.add_argument("--unified", action="store_true", help="the same as adding unified to --servers")
    p.add_argument("--kv-events-port", type=int, default=5557)
    p.add_argument("--decode-log-interval", type=int, default=10, help="decode steps between two log lines")
    p.add_argument("--whole-second-logs", action="store_true", help="log times as SGLang writes them by default")
    p.add_argument("--older", action="store_true", help="run unified with SGLang 0.5.9 (install-older.sh)")
    p.add_argument("--more", action="append", default=[], metavar="SERVER=ARGS", help="further arguments of a server")
    options = p.parse_args()
    servers = [s for s in options.servers.split(",") if s]
    if options.unified and "unified" not in servers:
        servers.append("unified")
    unknown = set(servers) - {"prefill", "decode", "router", "unified"}
    if unknown or not servers:
        p.error(f"no such server: {', '.join(sorted(unknown))}" if unknown else "no server asked for")
    options.servers = servers
    options.more = dict(m.split("=", 1) for m in options.more)
    return options


def loopback_up():
    """`ip link set lo up`, without needing iproute2."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sh", b"lo", IFF_UP | IFF_RUNNING))


def environment(options):
    """The engines' environment, with nothing of the caller's Python in it."""
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG", "TZ", "TMPDIR", "XDG_CACHE_HOME")}
    kept.update(ENGINES_ENVIRONMENT)
    if not options.whole_second_logs:
        kept["SGLANG_LOG_MS"] = "1"
    return kept


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


class Lab:
    def __init__(self, options):
        self.options = options
        self.children = {}
        self.shared_memory = set()

    def start(self, name, command):
        log = self.options.logs / f"{name}.log"
        prctl = ctypes.CDLL(None).prctl
        with open(log, "wb") as out:
            self.children[name] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=self.options.logs,
                env=environment(self.options),
                start_new_session=True,  # a process group of its own, to be ended as one
                preexec_fn=lambda: prctl(PR_SET_PDEATHSIG, signal.SIGKILL),  # even if we are killed
            )
        return log

    def wait_until(self, ready, name, deadline):
        while not ready():
            status = self.children[name].poll()
            if status is not None:
                raise SystemExit(f"lab: {name} ended with {status}:\n{self.tail(name)}")
            if time.monotonic() > deadline:
                raise SystemExit(f"lab: {name} is not ready after {self.options.boot_timeout:.0f} s:\n{self.tail(name)}")
            self.note_shared_memory()  # some of it is open only while booting
            self.pause(0.5)

    def tail(self, name):
        return "\n".join((self.options.logs / f"{name}.log").read_text(errors="replace").splitlines()[-20:])

    def pause(self, seconds):
        """Sleeps, and ends the program when standard input has closed."""
        if self.options.stay:
            time.sleep(seconds)
        elif select.select([0], [], [], seconds)[0] and not os.read(0, 4096):
            raise Stop

    def engine_ready(self, name, port):
        # Never by /health: that makes the engine generate, and so changes what is looked at.
        log = (self.options.logs / f"{name}.log").read_text(errors="replace")
        return READY_LINE in log and fetch(port, "/server_info") is not None

    def router_ready(self, about):
        workers = fetch(about["port"], "/workers")
        wanted = sum(s in self.options.servers for s in ("prefill", "decode"))
        healthy = [w for w in (workers or {}).get("workers", []) if w.get("is_healthy")]
        return len(healthy) >= wanted and listens(about["prometheus_port"])

    def note_shared_memory(self):
        """SGLang keeps its load and semaphores in /dev/shm and leaves the files behind when it ends.

        They are known by inode: a semaphore gets its name only after it was mapped.
        """
        for pid in self.members():
            try:
                with open(f"/proc/{pid}/maps") as maps:
                    self.shared_memory.update(int(line.split()[4]) for line in maps if " /dev/shm/" in line)
            except OSError:
                pass  # it has just ended

    def remove_shared_memory(self):
        for pattern in ("sglang_loads_*", "sem.mp-*"):
            for path in pathlib.Path("/dev/shm").glob(pattern):
                try:
                    if path.stat().st_ino in self.shared_memory:
                        path.unlink()
                except FileNotFoundError:
                    pass

    def members(self):
        """Pids of all living processes in our children's process groups."""
        groups = {child.pid for child in self.children.values()}
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    with open(f"/proc/{entry}/stat") as stat:
                        state, _parent, group = stat.read().rpartition(")")[2].split()[:3]
                except OSError:
                    continue
                if int(group) in groups and state != "Z":
                    found.append(int(entry))
        return found

    def boot(self):
        began = time.monotonic()
        deadline = began + self.options.boot_timeout
        wanted = {n: c for n, c in commands(self.options).items() if n in self.options.servers}
        answer = {"netns_pid": os.getpid(), "logs": str(self.options.logs), "servers": {}}
        for name, (about, command) in wanted.items():
            if name == "router":
                # It looks for its workers when it starts, so it comes last.
                for engine in [n for n in wanted if n != "router"]:
                    self.wait_for_engine(engine, wanted[engine][0], deadline, began)
            if name == "unified":
                about["events_file"] = str(self.options.logs / "kv-events.jsonl")
                self.follow_events(about)
            if any(listens(port) for key, port in about.items() if key.endswith("port")):
                raise SystemExit(f"lab: the port of {name} is taken")
            log = self.start(name, self.with_more(name, command))
            answer["servers"][name] = {
                "pid": self.children[name].pid, "url": f"http://127.0.0.1:{about['port']}",
                **about, "log": str(log), "argv": self.with_more(name, command),
            }  # fmt: skip
        for name, (about, _) in wanted.items():
            if name == "router":
                self.wait_until(lambda a=about: self.router_ready(a), name, deadline)
            else:
                self.wait_for_engine(name, about, deadline, began)
        self.note_shared_memory()
        answer["boot_s"] = round(time.monotonic() - began, 1)
        return answer

    def wait_for_engine(self, name, about, deadline, began):
        self.wait_until(lambda: self.engine_ready(name, about["port"]), name, deadline)

    def with_more(self, name, command):
        return command + shlex.split(self.options.more.get(name, ""))

    def follow_events(self, about):
        """Follows the KV events from before the first one, as what is resident is their sum."""
        python = str(self.options.lab / "sglang-0.5.23/bin/python")
        self.start("events", [python, str(HERE / "truth.py"), "events", about["kv_events"], about["events_file"]])

    def stay(self):
        ended = set()
        while True:
            self.pause(0.5)
            for name, child in self.children.items():
                if name not in ended and child.poll() is not None:
                    ended.add(name)
                    print(f"lab: {name} has ended with {child.returncode}", file=sys.stderr, flush=True)

    def end(self):
        self.note_shared_memory()
        # The engines would first finish what they are at; nobody waits for an answer here.
        for how, patience in ((signal.SIGTERM, 3), (signal.SIGKILL, 10)):
            for child in self.children.values():
                try:
                    os.killpg(child.pid, how)
                except ProcessLookupError:
                    pass
            deadline = time.monotonic() + patience
            while self.members() and time.monotonic() < deadline:
                for child in self.children.values():
                    child.poll()
                time.sleep(0.1)
            if not self.members():
                break
        self.remove_shared_memory()
        if self.members():
            print(f"lab: still running: {self.members()}", file=sys.stderr)


def fetch(port, path):
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
            f"http://127.0.0.1:{port}{path}", timeout=10
        ) as answer:
            return json.load(answer)
    except (OSError, ValueError):
        return None


def listens(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def on_signal(*_):
    raise Stop


def alone():
    """Goes on in a new network namespace with nothing but loopback."""
    if INSIDE not in os.environ:
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", "--net", "--", sys.executable, *sys.argv])
    loopback_up()


def new_folder(what):
    """A folder for logs and the like, and none any more of those that were killed."""
    for left in pathlib.Path(tempfile.gettempdir()).glob(f"plimsoll-{what}-*"):
        if not os.path.exists(f"/proc/{left.name.split('-')[2]}"):
            shutil.rmtree(left, ignore_errors=True)
    return pathlib.Path(tempfile.mkdtemp(prefix=f"plimsoll-{what}-{os.getpid()}-"))


def live(boot, stay, end, made=None):
    """Says as JSON what was started, stays until told to stop, ends it, and takes away the folder that it made."""
    ends = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    for s in ends:
        signal.signal(s, on_signal)
    try:
        print(json.dumps(boot()), flush=True)
        stay()
    except Stop:
        pass
    finally:
        for s in ends:
            signal.signal(s, signal.SIG_IGN)
        end()
        if made:
            shutil.rmtree(made, ignore_errors=True)


def main():
    options = parse_arguments()
    alone()
    made = None if options.logs else new_folder("lab")
    options.logs = (options.logs or made).resolve()
    options.logs.mkdir(parents=True, exist_ok=True)
    lab = Lab(options)
    live(lab.boot, lab.stay, lab.end, made)


if __name__ == "__main__":
    main()
