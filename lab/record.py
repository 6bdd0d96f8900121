#!/usr/bin/env python3
"""Records what the lab's servers answer during a scripted run, as a capture (see README.md).

  record.py OUT.jsonl LOGS_FOLDER

The run: idle, a light load, decode filled above 0.9, then a unified server that first evicts and
then retracts, and the quiet after it. LOGS_FOLDER gets what the truth can be worked out from: the
servers' logs, KV events, the engines' own account some times a second, and the script's times.
Also writes OUT.jsonl.gz and OUT.jsonl.zst. Standard library only; needs root.
"""

import ctypes
import gzip
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
EVERY_S, RARELY_S = 2.0, 20.0
CLONE_NEWNET = 0x40000000

# The script: (name, load.py's arguments or None for quiet, at most so long in seconds)
SCRIPT = [
    ("idle", None, 6),
    ("light", "29000 -n 16 -p 1200 -o 200 -c 3 --seed 11", 60),
    ("decode full", "29000 -n 20 -p 3100 -o 850 -c 17 --ramp 4 --seed 12", 120),
    ("unified evicts", "30010 -n 120 -p 2200 -o 40 -c 6 --prefix 200 --seed 13", 60),
    ("unified retracts", "30010 -n 40 -p 1800 -o 400 -c 40 --mode min_new_tokens --seed 14", 120),
    ("after", None, 12),
]


def looks(servers):
    """{base address: (paths asked every time, paths asked rarely)}"""
    engine = ["/metrics", "/v1/loads", "/get_load"]
    router = servers["router"]
    asked = {
        router["url"]: (["/workers", "/get_loads", "/engine_metrics"], []),
        f"http://127.0.0.1:{router['prometheus_port']}": (["/metrics"], []),
    }
    for name in ("prefill", "decode", "unified"):
        asked[servers[name]["url"]] = (engine, ["/server_info"])
    return asked


class Recorder:
    def __init__(self, answer, lab):
        self.lines, self.lock, self.done = [], threading.Lock(), threading.Event()
        # No reader of a capture needs to know where on this machine things were.
        self.places = [(answer["logs"], "/srv/sglang/run"), (str(lab), "/srv/sglang"), (os.path.expanduser("~"), "/srv")]

    def neutral(self, text):
        for ours, theirs in self.places:
            text = text.replace(ours, theirs)
        return text

    def add(self, line):
        with self.lock:
            self.lines.append(line)

    def look(self, target, path):
        began = time.monotonic()
        line = {"target": target, "get": path}
        try:
            with OPENER.open(target + path, timeout=15) as answer:
                status, headers, body = answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as answer:  # an answer too, such as 404
            status, headers, body = answer.code, answer.headers, answer.read()
        except OSError as error:
            line["error"] = str(getattr(error, "reason", error))
            status = None
        at = time.time()
        if status is not None:
            text = body.decode("utf-8", "replace")
            if path.endswith("metrics"):
                text = re.sub(r"(?m)^(# HELP \S+) .*$", r"\1 -", text)
            line.update(status=status, content_type=headers.get("Content-Type"), body=self.neutral(text))
        self.add({"at": round(at, 4), "took_s": round(time.monotonic() - began, 4), **line})

    def watch(self, target, often, rarely):
        """One thread a server: a slow answer delays only its own server's looks."""
        next_rare = due = time.monotonic()
        while not self.done.is_set():
            now = time.monotonic()
            for path in often:
                self.look(target, path)
            if now >= next_rare:
                next_rare = now + RARELY_S
                for path in rarely:
                    self.look(target, path)
            due = max(due + EVERY_S, time.monotonic())
            self.done.wait(due - time.monotonic())

    def processes(self, servers):
        """As anyone would see them in /proc; that they are units is made up."""
        for name, server in servers.items():
            pid = server["pid"]
            argv = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().rstrip("\0").split("\0")
            unit = "smg.service" if name == "router" else f"sglang-{name}.service"
            process = {"pid": pid, "argv": [self.neutral(a) for a in argv], "listening": listening(pid), "unit": unit}
            self.add({"at": round(time.time(), 4), "process": process})


def listening(pid):
    """Addresses that the process listens on, by /proc."""
    inodes = set()
    for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            inodes.add(os.readlink(fd))
        except OSError:
            pass
    found = set()
    for line in pathlib.Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
        columns = line.split()
        if columns[3] == "0A" and f"socket:[{columns[9]}]" in inodes:  # 0A: LISTEN
            address, port = columns[1].split(":")
            dotted = ".".join(str(b) for b in reversed(bytes.fromhex(address)))
            found.add(f"{dotted}:{int(port, 16)}")
    return sorted(found)


def enter_namespace(pid):
    with open(f"/proc/{pid}/ns/net") as namespace:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(namespace.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")


def play(logs):
    """Plays the script; returns when it is over."""
    with open(logs / "script.jsonl", "w", buffering=1) as out:
        for name, load, seconds in SCRIPT:
            began = time.time()
            summary = None
            if load is None:
                time.sleep(seconds)
            else:
                command = [sys.executable, str(HERE / "load.py"), *load.split(), "--seconds", str(seconds)]
                summary = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            stage = {"stage": name, "from": round(began, 3), "to": round(time.time(), 3), "load": load, "summary": summary}
            out.write(json.dumps(stage) + "\n")
            print(f"record: {name}: {stage['to'] - stage['from']:.0f} s", file=sys.stderr, flush=True)


def compress(path, lab_python):
    data = path.read_bytes()
    with open(f"{path}.gz", "wb") as out, gzip.GzipFile(filename="", fileobj=out, mode="wb", compresslevel=9, mtime=0) as z:
        z.write(data)
    # Successive answers differ little but lie far apart: it takes a window that spans several rounds.
    code = (
        "import sys, zstandard as z; p = z.ZstdCompressionParameters.from_level(22, window_log=25); "
        "open(sys.argv[1] + '.zst', 'wb').write(z.ZstdCompressor(compression_params=p).compress(open(sys.argv[1], 'rb').read()))"
    )
    subprocess.run([lab_python, "-c", code, str(path)], check=True)
    for file in (path, pathlib.Path(f"{path}.gz"), pathlib.Path(f"{path}.zst")):
        print(f"record: {file.name}: {file.stat().st_size} bytes", file=sys.stderr)


def record(answer, out, logs):
    servers = answer["servers"]
    lab_python = servers["decode"]["argv"][0]
    lab = pathlib.Path(lab_python).parents[2]
    enter_namespace(answer["netns_pid"])
    recorder = Recorder(answer, lab)
    started = time.time()
    recorder.processes(servers)
    accounts = [
        subprocess.Popen([sys.executable, str(HERE / "truth.py"), "loads", "--hz", "4", servers[n]["url"], str(logs / f"{n}-loads.jsonl")])
        for n in ("prefill", "decode", "unified")
    ]
    threads = [threading.Thread(target=recorder.watch, args=(t, *paths)) for t, paths in looks(servers).items()]
    for t in threads:
        t.start()
    try:
        play(logs)
    finally:
        recorder.done.set()
        for t in threads:
            t.join()
        for account in accounts:
            account.send_signal(signal.SIGTERM)
            account.wait()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    host = {"name": "lab", "cores": os.cpu_count(), "memory_bytes": memory}
    head = {"plimsoll_capture": 1, "made_by": "lab/record.py", "started_at": round(started, 4), "host": host}
    with open(out, "w") as file:
        for line in [head, *sorted(recorder.lines, key=lambda line: line["at"])]:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
    compress(out, lab_python)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    out, logs = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    logs.mkdir(parents=True, exist_ok=True)
    if any(logs.iterdir()):
        sys.exit(f"record: {logs} is not empty")
    command = [sys.executable, str(HERE / "deploy.py"), "--unified", "--folder", str(logs)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as deployment:
        try:
            line = deployment.stdout.readline()
            if not line:
                sys.exit("record: the servers did not start")
            answer = json.loads(line)
            print(f"record: ready after {answer['boot_s']} s", file=sys.stderr, flush=True)
            record(answer, out, logs)
        finally:
            deployment.stdin.close()  # which ends it
            deployment.wait()


OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
main()
