"""What all scripts share that start servers: each server is a child with a log, in a namespace that has only loopback; it is
waited for, and ends with all that it started. deploy.py, dynamo.py and engine.py say which ones.
"""

import ctypes
import fcntl
import json
import os
import pathlib
import select
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
PR_SET_PDEATHSIG = 1
SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 0x1, 0x40
SHARED_MEMORY = ("sglang_loads_*", "sem.mp-*", "psm_*")  # what engines leave in /dev/shm; the last is vLLM's


class Stop(Exception):
    """We were asked to end."""


def default_lab():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(os.environ.get("PLIMSOLL_LAB") or os.path.join(cache, "plimsoll", "lab"))


def add_lab_arguments(p):
    p.add_argument("--lab", type=pathlib.Path, default=default_lab(), help="where the installs put things")
    p.add_argument("--stay", action="store_true", help="do not end when standard input closes")


def add_server_arguments(p, boot_timeout):
    add_lab_arguments(p)
    p.add_argument("--folder", type=pathlib.Path, help="for logs, KV events and the like (default: a new one)")
    p.add_argument("--keep", action="store_true", help="leave the new folder behind")
    p.add_argument("--boot-timeout", type=float, default=boot_timeout, metavar="S")


def loopback_up():
    """`ip link set lo up`, without needing iproute2."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sh", b"lo", IFF_UP | IFF_RUNNING))


class Servers:
    """The children; who derives from it says in `boot` which ones they are, and their environment."""

    def __init__(self, options):
        self.options = options
        self.children = {}
        self.shared_memory = set()
        options.lab = options.lab.resolve()

    def environment(self):
        raise NotImplementedError

    def start(self, name, command, **environment):
        """Starts a child, with some settings in its environment; answers what can be told of it."""
        log = self.options.folder / f"{name}.log"
        prctl = ctypes.CDLL(None).prctl
        with open(log, "wb") as out:
            self.children[name] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=self.options.folder,
                env={**self.environment(), **environment},
                start_new_session=True,  # a process group of its own, to be ended as one
                preexec_fn=lambda: prctl(PR_SET_PDEATHSIG, signal.SIGKILL),  # even if we are killed
            )
        return {"pid": self.children[name].pid, "log": str(log), "argv": command, "environment": environment}

    def follow_events(self, name, python, endpoint):
        """Follows KV events from before the first one, as what is resident is their sum; answers the file."""
        events_file = self.options.folder / f"{name}.jsonl"
        self.start(name, [python, str(HERE / "truth.py"), "events", endpoint, str(events_file)])
        return str(events_file)

    def wait_until(self, ready, name, deadline):
        while not ready():
            status = self.children[name].poll()
            if status is not None:
                raise SystemExit(f"lab: {name} ended with {status}:\n{self.tail(name)}")
            if time.monotonic() > deadline:
                raise SystemExit(f"lab: {name} is not ready after {self.options.boot_timeout:.0f} s:\n{self.tail(name)}")
            self.note_shared_memory()  # some of it is open only while booting
            pause(self.options.stay, 0.5)

    def log(self, name):
        return (self.options.folder / f"{name}.log").read_text(errors="replace")

    def tail(self, name):
        return "\n".join(self.log(name).splitlines()[-20:])

    def note_shared_memory(self):
        """Engines have files in /dev/shm and leave them behind when they are ended.

        They are known by inode: a semaphore gets its name only after it was mapped.
        """
        for pid in self.members():
            try:
                with open(f"/proc/{pid}/maps") as maps:
                    self.shared_memory.update(int(line.split()[4]) for line in maps if " /dev/shm/" in line)
            except OSError:
                pass  # it has just ended

    def remove_shared_memory(self):
        for pattern in SHARED_MEMORY:
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

    def stay(self):
        ended = set()
        while True:
            pause(self.options.stay, 0.5)
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


def page(port, path="/metrics"):
    """What a server answers to a GET; none where it does not answer 200."""
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
            f"http://127.0.0.1:{port}{path}", timeout=10
        ) as answer:
            return answer.read().decode("utf-8", "replace")
    except OSError:
        return None


def fetch(port, path):
    """The same as JSON; none where it is not."""
    try:
        return json.loads(page(port, path) or "")
    except ValueError:
        return None


def listens(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def on_signal(*_):
    raise Stop


def pause(stay, seconds):
    """Sleeps, and, unless it is to stay, ends the program when standard input has closed."""
    if stay:
        time.sleep(seconds)
    elif select.select([0], [], [], seconds)[0] and not os.read(0, 4096):
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


def main(what, kind, options):
    """All of a script but its arguments: `kind` is what derives from Servers, `what` names a folder that is made."""
    alone()
    made = None if options.folder else new_folder(what)
    options.folder = (options.folder or made).resolve()
    options.folder.mkdir(parents=True, exist_ok=True)
    servers = kind(options)
    live(servers.boot, servers.stay, servers.end, None if options.keep else made)
