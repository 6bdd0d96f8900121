#!/usr/bin/env python3
"""Makes another host: namespaces of its own, in which a real sshd runs, that this machine reaches by an address, and an
ssh_config with an alias for each thing that can be the matter with a host (hosts.py). With --servers, the servers of
deploy.py run there.

When it is ready, one JSON line says where things are; then this stays in the foreground until its standard input closes
(unless --stay) or it gets SIGTERM, and removes all of it. Log in with: ssh -F SSH_CONFIG ALIAS COMMAND
Run something there with: nsenter -t NETNS_PID -a COMMAND

It has its own processes, network, accounts, /run, /var/log and /dev/shm; all other files are this machine's.
Exit code 75: this machine cannot do it, or Debian's registry does not answer. Standard library only; needs root.
"""

import argparse
import fnmatch
import ipaddress
import json
import os
import pathlib
import random
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

import nested
import servers
from hosts import BARE, HIDDEN, HOSTS, SSH_CONFIG, SSH_CONFIG_ALL, SSHD_CONFIG, TALKS, USERS, USUAL
from nested import BIND, NEWCGROUP, NEWIPC, NEWNET, NEWNS, NEWPID, NEWUTS, NODEV, NOSUID, PRIVATE, REC
from nested import called, libc, mount
from servers import HERE, PR_SET_PDEATHSIG

ADDRESSES = ipaddress.ip_network("198.18.0.0/15")  # for tests of networks (RFC 2544): no real one has them


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    servers.add_lab_arguments(p)
    p.add_argument("--servers", action="store_true", help="run router, prefill and decode there")
    p.add_argument("--unified", action="store_true", help="also a server that does both")
    p.add_argument("--deploy", default="", metavar="ARGS", help="further arguments of deploy.py")
    options = p.parse_args()
    options.lab = options.lab.resolve()
    return options


def hide_programs():
    """In a view of its own, programs that are no longer there; their neighbours are links to where they are now."""
    called(libc.unshare(NEWNS), "unshare")
    for place in ("/usr/local/bin", "/usr/bin"):
        moved = pathlib.Path("/run/programs" + place)
        moved.mkdir(parents=True)
        mount(place, moved, flags=BIND)
        mount("tmpfs", place, "tmpfs", NOSUID | NODEV, "mode=755")
        for name in os.listdir(moved):
            if not any(fnmatch.fnmatch(name, pattern) for pattern in HIDDEN):
                os.symlink(moved / name, f"{place}/{name}")


class Far:
    def __init__(self, options):
        self.options = options
        self.began = time.monotonic()
        self.folder = self.pid = self.link = self.address = None
        self.children = []

    def boot(self):
        self.install()
        self.make_folder()
        self.start_world()
        self.connect()
        self.wait_for_sshd()
        hosts = self.write_ssh_config()
        answer = {
            "address": self.address, "netns_pid": self.pid, "enter": self.command(), "root": f"/proc/{self.pid}/root",
            "folder": str(self.folder), "ssh_config": str(self.folder / "ssh_config"), "hosts": hosts,
            "sshd_log": str(self.folder / "sshd.log"),
        }  # fmt: skip
        if self.options.servers:
            answer["deploy"] = self.start_servers()
        answer["boot_s"] = round(time.monotonic() - self.began, 1)
        return answer

    def install(self):
        if os.geteuid() != 0:
            raise nested.Skip("it needs root")
        environment = {**os.environ, "PLIMSOLL_LAB": str(self.options.lab)}
        code = subprocess.call([HERE / "install-sshd.sh"], env=environment, stdin=subprocess.DEVNULL, stdout=2)
        if code == nested.SKIPPED:
            raise nested.Skip("there is no sshd")
        if code:
            raise SystemExit("lab: install-sshd.sh failed")

    def make_folder(self):
        self.folder = servers.new_folder("far")
        os.umask(0o022)
        self.folder.chmod(0o755)  # there are homes in it
        (self.folder / "keys").mkdir()
        for name in ("client", "host", "another"):
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", self.folder / "keys" / name]
            subprocess.run(words, stdin=subprocess.DEVNULL, check=True)
        (self.folder / "sshd_config").write_text(SSHD_CONFIG.format(folder=self.folder))
        (self.folder / "banner").write_text("Only for those who may.\n")
        (self.folder / "talking-shell").write_text(TALKS)
        (self.folder / "talking-shell").chmod(0o755)
        self.write_accounts()
        # bash reads it for commands over ssh, too
        (self.folder / "home/far-bashrc/.bashrc").write_text("echo 'far: loading your environment'\n")

    def write_accounts(self):
        """This machine's accounts and a few more, none of them with a password."""
        etc = self.folder / "etc"
        etc.mkdir()
        mine = {line.split(":")[0]: line for line in pathlib.Path("/etc/passwd").read_text().splitlines()}
        taken = {line.split(":")[2] for line in mine.values()}
        free = (str(number) for number in range(7001, 60000) if str(number) not in taken)
        self.uids = {}
        for user, shell in USERS.items():
            uid = self.uids[user] = 0 if user == "root" else int(next(free))
            home = self.folder / "home" / user
            home.mkdir(parents=True, mode=0o700)
            os.chown(home, uid, uid)
            mine[user] = f"{user}:x:{uid}:{uid}::{home}:{shell.format(folder=self.folder)}"
        mine.setdefault("sshd", f"sshd:x:{next(free)}:65534::/run/sshd:/usr/sbin/nologin")
        (etc / "passwd").write_text("".join(f"{line}\n" for line in mine.values()))
        groups = pathlib.Path("/etc/group").read_text() + "".join(f"{u}:x:{n}:\n" for u, n in self.uids.items() if n)
        (etc / "group").write_text(groups)
        (etc / "shadow").touch(0o600)
        (etc / "shadow").write_text("".join(f"{user}:*:20000:0:99999:7:::\n" for user in USERS))

    def start_world(self):
        told, tell = os.pipe()
        try:
            called(libc.unshare(NEWPID), "unshare")
            self.pid = os.fork()
        except OSError as error:
            nested.Nested.cannot(error)
        if self.pid == 0:
            self.become_first(told, tell)
        os.close(tell)
        nested.enter("self", "pid")  # further children are no part of it
        with os.fdopen(told, "rb") as pipe:
            said = pipe.read().decode(errors="replace")
        if said.startswith("skip "):
            raise nested.Skip(said.removeprefix("skip "))
        if said != "ready":
            raise SystemExit(f"lab: {said or 'the first process ended'}")

    def become_first(self, told, tell):
        """The first process over there, which all others end with; never returns."""
        try:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # all of it, even when we are killed
            os.close(told)
            for ours in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(ours, signal.SIG_DFL)
            os.setsid()
            called(libc.unshare(NEWNS | NEWUTS | NEWIPC | NEWNET | NEWCGROUP), "unshare")
            socket.sethostname("far")
            servers.loopback_up()
            self.own_files()
            log = os.open(self.folder / "sshd.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            for wanted, number in ((os.open("/dev/null", os.O_RDONLY), 0), (log, 1), (log, 2)):
                os.dup2(wanted, number)
            os.chdir("/")
            sshd = [self.options.lab / "sshd/usr/sbin/sshd", "-D", "-e", "-f", self.folder / "sshd_config"]
            path = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
            subprocess.Popen([*sshd, "-p", str(USUAL)], env=path)
            subprocess.Popen([*sshd, "-p", str(BARE)], env=path, preexec_fn=hide_programs)
            os.write(tell, b"ready")  # fails where nobody waits for it any more
            os.close(tell)
            while True:
                try:
                    os.wait()  # for those whose own parents have ended
                except ChildProcessError:
                    time.sleep(1)
        except OSError as error:
            what = "skip no right for namespaces here" if error.errno in nested.NO_RIGHT else "cannot start the host"
            os.write(tell, f"{what} ({error})".encode())
        except BaseException as error:  # noqa: BLE001, whatever it is, this process must not live on as a second of us
            os.write(tell, f"cannot start the host: {error!r}".encode())
        finally:
            os._exit(1)

    def own_files(self):
        mount(None, "/", flags=REC | PRIVATE)
        for name in ("passwd", "group", "shadow"):
            mount(self.folder / "etc" / name, f"/etc/{name}", flags=BIND)
        for place, mode in (("/run", "755"), ("/var/log", "755"), ("/dev/shm", "1777")):
            mount("tmpfs", place, "tmpfs", NOSUID | NODEV, f"mode={mode}")
        os.mkdir("/run/sshd", 0o755)
        mount("proc", "/proc", "proc", NOSUID | NODEV)

    def connect(self):
        """A line between here and there; its name is its address, and so nobody else has it."""
        for number in random.sample(range(ADDRESSES.num_addresses // 4), 100):
            here, there = (f"{ADDRESSES[4 * number + which]}/30" for which in (1, 2))
            link = f"plimsoll{number}"
            added = self.ip(f"link add {link} type veth peer name eth0 netns {self.pid}")
            if added.returncode == 0:
                break
            if "File exists" not in added.stderr:
                raise nested.Skip(f"no line to another network namespace: {added.stderr.strip()}")
        else:
            raise nested.Skip("no free address")
        self.link, self.address = link, there.partition("/")[0]
        inside = ("nsenter", "-t", str(self.pid), "-n", "--")
        for done in (
            self.ip(f"addr add {here} dev {link}"), self.ip(f"link set {link} up"),
            self.ip(f"addr add {there} dev eth0", inside), self.ip("link set eth0 up", inside),
        ):  # fmt: skip
            if done.returncode:
                raise SystemExit(f"lab: no address: {done.stderr.strip()}")

    @staticmethod
    def ip(words, inside=()):
        words = [*inside, "ip", *words.split()]
        return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def wait_for_sshd(self):
        deadline = time.monotonic() + 20
        for port in (USUAL, BARE):
            while not self.greets(port):
                if time.monotonic() > deadline:
                    raise SystemExit(f"lab: sshd does not come up:\n{(self.folder / 'sshd.log').read_text()[-4000:]}")
                servers.pause(self.options.stay, 0.05)

    def greets(self, port):
        try:
            with socket.create_connection((self.address, port), timeout=5) as s:
                return s.recv(4) == b"SSH-"
        except OSError:
            return False

    def write_ssh_config(self):
        relays = {alias: self.start_relay(line) for alias, (_, line, _) in HOSTS.items() if isinstance(line, str)}
        ports = {alias: int(relay.stdout.readline()) for alias, relay in relays.items()}
        text, hosts, places = "", {}, []
        for alias, (user, port, known) in HOSTS.items():
            host, port = ("127.0.0.1", ports[alias]) if alias in ports else (self.address, port)
            places.append(host if port == 22 else f"[{host}]:{port}")
            hosts[alias] = {"user": user, "uid": self.uids[user], "host": host, "port": port}
            text += SSH_CONFIG.format(alias=alias, known=self.folder / f"known_hosts.{known}", **hosts[alias])
        (self.folder / "ssh_config").write_text(text + SSH_CONFIG_ALL.format(folder=self.folder))
        for known, key in (("known", "host"), ("changed", "another")):
            words = (self.folder / f"keys/{key}.pub").read_text().split()[:2]
            lines = (f"{place} {' '.join(words)}\n" for place in dict.fromkeys(places))
            (self.folder / f"known_hosts.{known}").write_text("".join(lines))
        (self.folder / "known_hosts.none").touch()
        return hosts

    def start_relay(self, arguments):
        words = [sys.executable, "-B", HERE / "relay.py", f"{self.address}:{USUAL}", *arguments.split()]
        return self.start(words, os.environ)

    def start(self, words, environment):
        """A child that ends when its standard input closes, and so with us."""
        child = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, start_new_session=True
        )
        self.children.append(child)
        return child

    def start_servers(self):
        """deploy.py, told that it is in a namespace already."""
        words = [sys.executable, "-B", str(HERE / "deploy.py"), "--lab", str(self.options.lab)]
        words += ["--folder", str(self.folder / "logs"), *(["--unified"] if self.options.unified else [])]
        words += shlex.split(self.options.deploy)
        child = self.start(self.command(*words), {**os.environ, servers.INSIDE: "1"})
        while not select.select([child.stdout], [], [], 0)[0]:
            servers.pause(self.options.stay, 0.2)
        told = child.stdout.readline()
        if not told:
            raise SystemExit("lab: no servers")
        return json.loads(told)

    def command(self, *words):
        return ["nsenter", "-t", str(self.pid), "-a", "--", *words]

    def stay(self):
        while os.waitpid(self.pid, os.WNOHANG) == (0, 0):
            servers.pause(self.options.stay, 0.5)
        self.pid = None
        raise SystemExit("lab: the far host has ended")

    def end(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            deadline = time.monotonic() + 10
            # The kernel ends all others first; one that was put there waits for its own parent to see it.
            while os.waitpid(self.pid, os.WNOHANG) == (0, 0):
                if time.monotonic() > deadline:
                    print("lab: something still runs on the far host", file=sys.stderr)
                    break
                time.sleep(0.02)
        for child in self.children:
            child.kill()
            child.wait()
        if self.link:
            self.ip(f"link del {self.link}")  # or it would go a little later, with the namespace
        if self.folder:
            shutil.rmtree(self.folder)


def main():
    far = Far(parse_arguments())
    nested.run(far.boot, far.stay, far.end)


if __name__ == "__main__":
    main()
