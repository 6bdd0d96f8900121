#!/usr/bin/env python3
"""Starts the reference deployment as it is deployed: three systemd units, router, prefill and decode, under a systemd and
a journald of their own (nested.py), with --unified and --older a fourth and a fifth, all metrics off but prefill's.

Everything has its defaults: log lines every 40 decode steps, with whole seconds. Router and decode log to the journal,
prefill to a file. When each one is ready, one JSON line says where things are; then this stays in the foreground until its
standard input closes (unless --stay) or it gets SIGTERM, and ends what it started.
Enter with: nsenter -t SYSTEMD_PID -a COMMAND

Exit code 75: this machine cannot do it. Standard library only; needs root.
"""

import argparse
import pathlib
import re
import time

import deploy
import nested
import servers
from servers import fetch

HOME = "/srv/sglang"
SYSTEM = pathlib.Path("/etc/systemd/system")
# What an operator would never want to see anywhere: tests look for how they begin (crates/testkit) in all that is said.
SECRETS = {"HF_TOKEN": "canary-4711-environment-file", "WANDB_API_KEY": "canary-4711-drop-in"}


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    servers.add_lab_arguments(p)
    p.add_argument("--boot-timeout", type=float, default=deploy.BOOT_TIMEOUT_S, metavar="S")
    deploy.add_deployment_arguments(p)
    p.add_argument("--unified", action="store_true", help="also a server that does both")
    p.add_argument("--older", action="store_true", help="also one of SGLang 0.5.9 (install-older.sh)")
    p.add_argument("--older-port", type=int, default=30020)
    p.add_argument("--without", default="", metavar="SERVERS", help="comma-separated; of router, prefill and decode")
    options = p.parse_args()
    options.lab = options.lab.resolve()
    options.decode_log_interval, options.kv_events_port = None, 0
    return options


def wanted_units(options):
    """{unit: (what can be said of it beforehand, its command line)}, in the order in which they are started."""
    with_older, options.older = options.older, False
    commands = deploy.commands(options)
    alone = ("--enable-cache-report", "--schedule-conservativeness", "0.05")
    tokens = options.unified_tokens
    if options.unified:
        command = deploy.sglang(options, "sglang-0.5.23", options.unified_port, tokens, *alone)
        commands["unified"] = ({"port": options.unified_port, "tokens": tokens, "metrics": False}, command)
    else:
        del commands["unified"]
    if with_older:
        command = deploy.sglang(options, "sglang-0.5.9", options.older_port, tokens, *alone)
        commands["older"] = ({"port": options.older_port, "tokens": tokens, "metrics": False}, command)
    for name in filter(None, options.without.split(",")):
        del commands[name]
    ordered = sorted(commands, key=lambda name: name == "router")  # it looks for its workers when it starts
    return {f"sglang-{name}.service": commands[name] for name in ordered}


def word(text):
    """A word of an ExecStart line."""
    text = text.replace("%", "%%").replace("$", "$$")
    if re.fullmatch(r"[\w%$@:,./=+-]+", text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def exec_start(command):
    """Over several lines, as people write them: a flag and its values on each."""
    lines = [[]]
    for text in command:
        if text.startswith("--") and lines[-1]:
            lines.append([])
        lines[-1].append(word(text))
    return " \\\n    ".join(" ".join(line) for line in lines)


def unit_file(unit, command):
    lines = ["[Unit]", f"Description={unit.removesuffix('.service')}", "After=network.target", "", "[Service]"]
    lines += ["EnvironmentFile=/etc/sglang/common.env", f"WorkingDirectory={HOME}"]
    if unit == "sglang-decode.service":
        lines += ["EnvironmentFile=-/etc/sglang/decode.env"]
        command = ["${POOL_TOKENS}" if before == "--max-total-tokens" else text for before, text in pairs(command)]
    start = exec_start(command).replace("$${POOL_TOKENS}", "${POOL_TOKENS}").replace('"${POOL_TOKENS}"', "${POOL_TOKENS}")
    lines += [f"ExecStart={start}"]
    if unit == "sglang-prefill.service":
        lines += ["StandardOutput=append:/var/log/sglang/prefill.log"]
    lines += ["", "[Install]", "WantedBy=multi-user.target"]
    return "\n".join(lines) + "\n"


def pairs(command):
    return zip(["", *command], command)


def write_files(options, wanted):
    """Everything that an operator would have written; runs inside, where /etc is our own."""
    pathlib.Path(HOME).mkdir()
    pathlib.Path("/var/log/sglang").mkdir()
    settings = pathlib.Path("/etc/sglang")
    settings.mkdir()
    common = {**deploy.ENGINES_ENVIRONMENT, "HOME": HOME, "TZ": "UTC"}
    (settings / "common.env").write_text("# for all servers\n" + "".join(f"{k}={v}\n" for k, v in common.items()))
    (settings / "decode.env").write_text(f'POOL_TOKENS={options.decode_tokens}\nHF_TOKEN="{SECRETS["HF_TOKEN"]}"\n')
    for unit, (_, command) in wanted.items():
        (SYSTEM / unit).write_text(unit_file(unit, command))
    drop_ins = SYSTEM / "sglang-decode.service.d"
    drop_ins.mkdir()
    secret = f"Environment=WANDB_API_KEY={SECRETS['WANDB_API_KEY']}"
    (drop_ins / "10-site.conf").write_text(f"[Service]\nLimitNOFILE=65536\n{secret}\n")


class Deployment:
    def __init__(self, options):
        self.options = options
        self.wanted = wanted_units(options)
        self.nested = nested.Nested([options.lab])
        self.began = time.monotonic()

    def boot(self):
        self.nested.start(lambda: write_files(self.options, self.wanted))
        answer = {
            "systemd_pid": self.nested.pid, "netns_pid": self.nested.pid, "enter": self.nested.command(),
            "root": f"/proc/{self.nested.pid}/root", "systemd_s": self.took(), "units": {}, "secrets": list(SECRETS.values()),
        }  # fmt: skip
        nested.enter(self.nested.pid, "net")  # to ask the servers; our files and processes stay as they are
        engines = [unit for unit in self.wanted if unit != "sglang-router.service"]
        self.nested.run("systemctl", "start", *engines)
        for unit in engines:
            self.wait_until(lambda u=unit: self.engine_ready(u), unit)
        if len(engines) < len(self.wanted):
            self.nested.run("systemctl", "start", "sglang-router.service")
            self.wait_until(self.router_ready, "sglang-router.service")
        for unit, (about, command) in self.wanted.items():
            answer["units"][unit] = self.told(unit, about, command)
        answer["boot_s"] = self.took()
        return answer

    def took(self):
        return round(time.monotonic() - self.began, 1)

    def told(self, unit, about, command):
        inside = int(self.show(unit, "MainPID"))
        return {
            "pid": self.nested.outside(inside), "pid_inside": inside, "url": f"http://127.0.0.1:{about['port']}", **about,
            "unit_file": str(SYSTEM / unit), "log": self.log_file(unit) or "journal", "argv": command,
        }  # fmt: skip

    @staticmethod
    def log_file(unit):
        return "/var/log/sglang/prefill.log" if unit == "sglang-prefill.service" else None

    def show(self, unit, name):
        return self.nested.output("systemctl", "show", unit, "-p", name, "--value").strip()

    def log(self, unit):
        if self.log_file(unit):
            path = pathlib.Path(f"/proc/{self.nested.pid}/root{self.log_file(unit)}")
            return path.read_text(errors="replace") if path.exists() else ""
        return self.nested.output("journalctl", "-u", unit, "-o", "cat", "--no-pager")

    def wait_until(self, ready, unit):
        while not ready():
            if self.show(unit, "ActiveState") not in ("active", "activating"):
                raise SystemExit(f"lab: {unit} has ended:\n{self.tail(unit)}")
            if self.took() > self.options.boot_timeout:
                raise SystemExit(f"lab: {unit} is not ready after {self.options.boot_timeout:.0f} s:\n{self.tail(unit)}")
            servers.pause(self.options.stay, 0.5)

    def tail(self, unit):
        status = self.nested.output("systemctl", "status", unit, "--no-pager", "--lines=0")
        return "\n".join([status, *self.log(unit).splitlines()[-20:]])

    def engine_ready(self, unit):
        # Never by /health: that makes the engine generate, and so changes what is looked at.
        return deploy.READY_LINE in self.log(unit) and fetch(self.wanted[unit][0]["port"], "/server_info") is not None

    def router_ready(self):
        about = self.wanted["sglang-router.service"][0]
        return deploy.router_ready(about, sum(f"sglang-{name}.service" in self.wanted for name in ("prefill", "decode")))

    def stay(self):
        while self.nested.is_alive():
            servers.pause(self.options.stay, 0.5)
        raise SystemExit("lab: systemd has ended")


def main():
    deployment = Deployment(parse_arguments())
    nested.run(deployment.boot, deployment.stay, deployment.nested.end)


if __name__ == "__main__":
    main()
