"""A systemd and a journald of one's own, in namespaces, for tests: they share no process, socket, journal, unit or
temporary file with the machine's.

Whatever systemd may write to is a file system of its own in memory; without that it would empty this machine's /tmp. The
rest is read-only. Everything in it ends with its first process, which ends with the process that started it.

Standard library only; needs root.
"""

import ctypes
import errno
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

from servers import PR_SET_PDEATHSIG, live, loopback_up

SKIPPED = 75  # EX_TEMPFAIL: this machine cannot do it, nothing is wrong with what is tested
NO_RIGHT = (errno.EPERM, errno.EACCES, errno.EROFS, errno.ENOSYS, errno.ENOSPC)
NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWPID, NEWNET = 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x20000000, 0x40000000
RDONLY, NOSUID, NODEV, REMOUNT, BIND, MOVE, REC, PRIVATE = 1, 2, 4, 32, 4096, 8192, 16384, 1 << 18
# Empty ones of its own; /etc, /dev and the folder of units are made below.
OWN = ("/tmp", "/var/tmp", "/run", "/var/log", "/var/lib", "/srv")
# What the machine's own generators and units would start is none of our business: only these are there.
UNITS = ("systemd-journald.service", "systemd-journald.socket", "systemd-journald-dev-log.socket",
         "systemd-journal-flush.service", "dbus.service", "dbus.socket")  # fmt: skip
WANTED = {
    "sysinit.target.wants": ("systemd-journald.service", "systemd-journal-flush.service"),
    "sockets.target.wants": ("systemd-journald.socket", "systemd-journald-dev-log.socket", "dbus.socket"),
}

libc = ctypes.CDLL(None, use_errno=True)


class Skip(Exception):
    """This machine cannot do it, for the reason given."""


def called(result, what):
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def mount(source, target, kind=None, flags=0, data=None):
    words = [None if w is None else str(w).encode() for w in (source, target, kind)]
    called(libc.mount(*words, ctypes.c_ulong(flags), None if data is None else data.encode()), f"mount {target}")


def enter(pid, kind):
    """Enters a namespace of a process; children do so where it is one of processes."""
    with open(f"/proc/{pid}/ns/{kind}") as namespace:
        called(libc.setns(namespace.fileno(), 0), f"setns {kind}")


def private_dev():
    """A /dev with what every program expects, as systemd and journald make files there."""
    stage = pathlib.Path("/tmp/dev")
    stage.mkdir()
    mount("tmpfs", stage, "tmpfs", NOSUID, "mode=755")
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        (stage / name).touch()
        mount(f"/dev/{name}", stage / name, flags=BIND)
    for name in ("pts", "shm"):
        (stage / name).mkdir()
    mount("devpts", stage / "pts", "devpts", NOSUID, "newinstance,ptmxmode=0666,mode=620")
    mount("tmpfs", stage / "shm", "tmpfs", NOSUID | NODEV, "mode=1777")
    for name, target in (("ptmx", "pts/ptmx"), ("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        (stage / name).symlink_to(target)
    mount(stage, "/dev", flags=MOVE)
    stage.rmdir()


def private_etc():
    stage = pathlib.Path("/tmp/etc")
    stage.mkdir()
    mount("tmpfs", stage, "tmpfs", NOSUID | NODEV, "mode=755")
    subprocess.run(["cp", "-a", "/etc/.", str(stage)], check=True)
    shutil.rmtree(stage / "systemd/system", ignore_errors=True)
    (stage / "systemd/system").mkdir(parents=True)
    (stage / "fstab").write_text("")
    (stage / "hostname").write_text("lab\n")
    (stage / "machine-id").unlink(missing_ok=True)
    (stage / "machine-id").write_text(f"{uuid.uuid4().hex}\n")
    mount(stage, "/etc", flags=MOVE)
    stage.rmdir()


def private_units():
    """In place of the machine's units only those without which no systemd runs, and its journal's."""
    folder = unit_folder()
    kept = {p.name: p.read_bytes() for p in folder.iterdir() if p.suffix in (".target", ".slice") and p.is_file()}
    kept.update({name: (folder / name).read_bytes() for name in UNITS if (folder / name).is_file()})
    mount("tmpfs", folder, "tmpfs", NOSUID | NODEV, "mode=755")
    for name, text in kept.items():
        (folder / name).write_bytes(text)
    for target, names in WANTED.items():
        (folder / target).mkdir()
        for name in names:
            if name in kept:
                (folder / target / name).symlink_to(f"../{name}")
    generators = folder.parent / "system-generators"
    if generators.is_dir():
        mount("tmpfs", generators, "tmpfs", NOSUID | NODEV, "mode=755")


def unit_folder():
    return pathlib.Path("/lib/systemd/system").resolve()


def private_files(shown):
    """All of the file system; `shown` are folders that stay visible wherever they are."""
    mount(None, "/", flags=REC | PRIVATE)
    # An open folder is still there after something was mounted over it.
    kept = {path: os.open(path, os.O_PATH | os.O_DIRECTORY) for path in shown}
    for path in OWN:
        if os.path.isdir(path):
            mount("tmpfs", path, "tmpfs", NOSUID | NODEV, "mode=1777" if path in ("/tmp", "/var/tmp") else "mode=755")
    for path, folder in kept.items():
        if any(pathlib.Path(own) in pathlib.Path(path).parents for own in OWN):
            os.makedirs(path)
            mount(f"/proc/self/fd/{folder}", path, flags=BIND)
            mount(None, path, flags=REMOUNT | BIND | RDONLY)
        os.close(folder)
    os.makedirs("/var/log/journal", exist_ok=True)
    # As systemd's tmpfiles leave it, which do not run here: its group may read what journald puts there.
    shutil.chown("/var/log/journal", group="systemd-journal")
    os.chmod("/var/log/journal", 0o2755)
    private_etc()
    private_dev()
    private_units()
    mount("proc", "/proc", "proc", NOSUID | NODEV)
    for path in filter(os.path.exists, ("/proc/sys", "/proc/sysrq-trigger")):
        mount(path, path, flags=BIND)
        mount(None, path, flags=REMOUNT | BIND | RDONLY)
    mount("sysfs", "/sys", "sysfs", NOSUID | NODEV | RDONLY)
    mount("cgroup2", "/sys/fs/cgroup", "cgroup2", NOSUID | NODEV)
    # BIND: of this view of it only, not of the file system itself.
    mount(None, "/", flags=REMOUNT | BIND | RDONLY)


def cgroup_root():
    """Where the machine's cgroup version 2 is; on hybrid machines it lies beside the older ones."""
    with open("/proc/self/mountinfo") as mounts:
        for line in mounts:
            fields, _, kind = line.partition(" - ")
            if kind.split()[0] == "cgroup2":
                return pathlib.Path(fields.split()[4])
    raise Skip("no cgroup version 2 is mounted")


def remove_cgroup(folder):
    """Removes it and all below, which must have no process any more; whether it is gone."""
    for path, _, _ in os.walk(folder, topdown=False):
        try:
            os.rmdir(path)
        except OSError:
            pass
    return not folder.exists()


class Nested:
    """One of them, from `start` to `end`. `pid` is its systemd's, as seen from outside."""

    def __init__(self, shown):
        self.shown = [str(path) for path in shown]
        self.pid = None
        self.cgroup = None
        self.said = tempfile.TemporaryFile()  # noqa: SIM115, open as long as systemd runs

    def start(self, prepare, patience=60):
        """Starts it; `prepare` is run inside before systemd is, to write units."""
        if os.geteuid() != 0:
            raise Skip("it needs root")
        if not os.access("/lib/systemd/systemd", os.X_OK):
            raise Skip("systemd is not installed")
        self.make_cgroup()
        told, tell = os.pipe()
        try:
            called(libc.unshare(NEWPID), "unshare")
            self.pid = os.fork()
        except OSError as error:
            self.cannot(error)
        if self.pid == 0:
            self.become_systemd(prepare, tell)
        os.close(tell)
        enter("self", "pid")  # further children are no part of it
        with os.fdopen(told, "rb") as pipe:
            failure = pipe.read().decode(errors="replace")  # ends when systemd has taken over
        if failure.startswith("skip "):
            raise Skip(failure.removeprefix("skip "))
        if failure:
            raise SystemExit(f"lab: {failure}")
        self.wait_until_up(time.monotonic() + patience)

    def make_cgroup(self):
        root = cgroup_root()
        for left in root.glob("plimsoll-lab-*"):  # of one that was killed together with its starter
            if not os.path.exists(f"/proc/{left.name.rpartition('-')[2]}"):
                remove_cgroup(left)
        self.cgroup = root / f"plimsoll-lab-{os.getpid()}"
        try:
            self.cgroup.mkdir()
        except OSError as error:
            self.cgroup = None
            self.cannot(error)

    @staticmethod
    def cannot(error):
        if error.errno in NO_RIGHT:
            raise Skip(f"no right to make namespaces here ({error})")
        raise error

    def become_systemd(self, prepare, tell):
        """The first process of the new world; never returns."""
        try:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # all of it, even when we are killed
            (self.cgroup / "cgroup.procs").write_text("0")
            called(libc.unshare(NEWNS | NEWUTS | NEWIPC | NEWNET | NEWCGROUP), "unshare")
            private_files(self.shown)
            loopback_up()
            os.chdir("/")
            prepare()
            os.setsid()
            for wanted, number in ((os.open("/dev/null", os.O_RDONLY), 0), (self.said.fileno(), 1), (self.said.fileno(), 2)):
                os.dup2(wanted, number)
            environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "container": "plimsoll-lab"}
            arguments = ["systemd", "--system", "--unit=basic.target", "--show-status=no"]
            os.execve("/lib/systemd/systemd", arguments, environment)
        except OSError as error:
            what = f"skip no right for namespaces here ({error})" if error.errno in NO_RIGHT else f"cannot start systemd: {error}"
            os.write(tell, what.encode())
        except BaseException as error:  # noqa: BLE001, whatever it is, this process must not live on as a second of us
            os.write(tell, f"cannot start systemd: {error!r}".encode())
        os._exit(1)

    def wait_until_up(self, deadline):
        while self.output("systemctl", "is-active", "basic.target").strip() != "active":
            if not self.is_alive() or time.monotonic() > deadline:
                raise SystemExit(f"lab: systemd does not come up:\n{self.tail()}")
            time.sleep(0.1)

    def tail(self):
        self.said.seek(0)
        return self.said.read()[-4000:].decode(errors="replace") + self.output("journalctl", "-n", "40", "--no-pager")

    def command(self, *words):
        return ["nsenter", "-t", str(self.pid), "-a", "--", *words]

    def output(self, *words):
        """What a command inside prints, whether it fails or not."""
        done = subprocess.run(
            self.command(*words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
        )
        return done.stdout.decode(errors="replace")

    def run(self, *words):
        subprocess.run(self.command(*words), stdin=subprocess.DEVNULL, check=True)

    def is_alive(self):
        try:
            return os.waitpid(self.pid, os.WNOHANG) == (0, 0)
        except ChildProcessError:
            return False

    def outside(self, inside):
        """A process's pid as seen from outside."""
        world = os.readlink(f"/proc/{self.pid}/ns/pid")
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/status") as status:
                    pids = next(line.split()[1:] for line in status if line.startswith("NSpid:"))
                if pids[-1] == str(inside) and os.readlink(f"/proc/{entry}/ns/pid") == world:
                    return int(entry)
            except (OSError, StopIteration):
                continue  # it has just ended
        raise SystemExit(f"lab: process {inside} is not there")

    def end(self):
        """Ends every process in it and leaves nothing behind."""
        if self.pid and self.is_alive():
            os.kill(self.pid, signal.SIGKILL)
            try:
                os.waitpid(self.pid, 0)  # the kernel ends all others first
            except ChildProcessError:
                pass
        deadline = time.monotonic() + 10
        while self.cgroup and not remove_cgroup(self.cgroup):
            if time.monotonic() > deadline:
                raise SystemExit(f"lab: {self.cgroup} cannot be removed")
            select.select([], [], [], 0.1)


def run(boot, stay, end):
    """As `live`; where this machine cannot do it the exit code is 75."""
    try:
        live(boot, stay, end)
    except Skip as reason:
        print(f"lab: skipped: {reason}", file=sys.stderr)
        sys.exit(SKIPPED)
    sys.exit(0)
