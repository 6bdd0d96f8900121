#!/usr/bin/env python3
"""What is really in a server's KV pool, told by others than plimsoll.

  truth.py log FILE [--all]         batch and retraction lines of a server's log: the engine's own words
  truth.py loads URL OUT [--hz N]   /v1/loads at N a second: the engine's own account, also between log lines
  truth.py events ENDPOINT OUT      KV events summed up: what is resident in the radix cache (used + evictable)

`log` and `loads` say what is IN USE (locked by requests). `events` says what the prefix cache HOLDS:
a running request's prompt is in it once computed, its output only when the request has ended.
They are three different accounts and agree only where the quantities do.

`log` and `loads` need the standard library only, `events` the lab's Python (pyzmq and msgspec).
`loads` and `events` append JSON lines to OUT and go on until SIGTERM.
"""

import argparse
import json
import re
import signal
import sys
import time
import urllib.request

BATCH = re.compile(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(\.\d+)?[^\]]*\] (?:\[[^\]]*\] )?(Prefill|Decode) batch\b(.*)")
RETRACT = re.compile(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(\.\d+)?[^\]]*\] .*Retract requests.*#retracted_reqs: (\d+)")
# what a batch line calls things, and what we call them
FIELDS = {
    "#token": "tokens",
    "token usage": "usage",
    "pre-allocated usage": "preallocated_usage",
    "#running-req": "running",
    "#queue-req": "queue",
    "#new-token": "new_tokens",
    "#cached-token": "cached_tokens",
    "gen throughput (token/s)": "throughput",
}


def log_time(seconds, fraction):
    """Log lines carry local time, with a fraction only under SGLANG_LOG_MS=1."""
    return time.mktime(time.strptime(seconds, "%Y-%m-%d %H:%M:%S")) + float(fraction or 0)


def parse_line(line):
    if found := BATCH.match(line):
        said = {"at": log_time(found[1], found[2]), "kind": found[3].lower()}
        # A line with whole seconds was written at some moment of that second.
        said["resolution_s"] = 0.001 if found[2] else 1
        for part in found[4].split(","):
            name, _, value = part.strip(". ").partition(":")
            if name in FIELDS:
                said[FIELDS[name]] = float(value) if "." in value else int(value)
        return said
    if found := RETRACT.match(line):
        return {"at": log_time(found[1], found[2]), "kind": "retraction", "requests": int(found[3])}
    return None


def read_log(path):
    with open(path, errors="replace") as log:
        return [said for line in log if (said := parse_line(line))]


def from_log(options):
    said = read_log(options.file)
    if options.all:
        for s in said:
            print(json.dumps(s))
        return
    newest = {s["kind"]: s for s in said}
    batches = [s for s in said if s["kind"] != "retraction"]
    retracted = sum(s["requests"] for s in said if s["kind"] == "retraction")
    print(json.dumps({"newest": batches[-1] if batches else None, **newest, "retracted_requests": retracted}))


def from_loads(options):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with open(options.out, "a", buffering=1) as out:
        due = time.monotonic()
        while True:
            asked = time.time()
            said = {}
            try:
                with opener.open(options.url.rstrip("/") + "/v1/loads", timeout=10) as answer:
                    for load in json.load(answer)["loads"]:
                        names = ("timestamp", "dp_rank", "num_used_tokens", "num_total_tokens", "max_total_num_tokens",
                                 "token_usage", "num_running_reqs", "num_waiting_reqs")  # fmt: skip
                        said = {n: load.get(n) for n in names}
                        said["retracted"] = (load.get("queues") or {}).get("retracted")
                        # asked and at bracket the answer; timestamp is when the scheduler wrote it
                        out.write(json.dumps({"asked": asked, "at": time.time(), **said}) + "\n")
            except (OSError, ValueError, KeyError) as error:
                out.write(json.dumps({"asked": asked, "at": time.time(), "error": str(error)}) + "\n")
            due = max(due + 1 / options.hz, time.monotonic())
            time.sleep(max(0, due - time.monotonic()))


class Resident:
    """Which tokens the prefix cache holds in the GPU's pool (here: in its stand-in), by the events."""

    OURS = (None, "GPU")  # events also tell of copies in host memory and on disk

    def __init__(self):
        self.blocks = {}  # block hash -> tokens
        self.tokens = self.stored = self.removed = self.unknown = self.cleared = 0

    def take(self, event):
        kind = event["type"]
        if kind == "AllBlocksCleared":
            self.cleared += 1
            self.blocks.clear()
            self.tokens = 0
        elif event.get("medium") not in self.OURS:
            pass
        elif kind == "BlockStored":
            for block in event["block_hashes"]:
                if block not in self.blocks:
                    self.blocks[block] = event["block_size"]
                    self.tokens += event["block_size"]
                    self.stored += event["block_size"]
        elif kind == "BlockRemoved":
            for block in event["block_hashes"]:
                size = self.blocks.pop(block, None)
                if size is None:
                    self.unknown += 1  # stored before we listened
                else:
                    self.tokens -= size
                    self.removed += size


def as_map(event):
    """Up to SGLang 0.5.19 an event is an array: its type, then its fields in order."""
    if isinstance(event, dict):
        return event
    names = {
        "BlockStored": ("block_hashes", "parent_block_hash", "token_ids", "block_size", "lora_id", "medium"),
        "BlockRemoved": ("block_hashes", "medium"),
        "AllBlocksCleared": (),
    }[event[0]]
    return {"type": event[0], **dict(zip(names, event[1:]))}


def from_events(options):
    import msgspec
    import zmq

    socket = zmq.Context().socket(zmq.SUB)
    socket.setsockopt(zmq.SUBSCRIBE, b"")
    socket.setsockopt(zmq.RCVHWM, 0)  # no event may be dropped
    socket.connect(options.endpoint)
    resident, first, expected, lost = Resident(), None, 0, 0
    with open(options.out, "a", buffering=1) as out:
        while True:
            _topic, sequence, payload = socket.recv_multipart()
            sequence = int.from_bytes(sequence, "big")
            if first is None:
                first = expected = sequence
            lost += max(0, sequence - expected)
            expected = sequence + 1
            written_at, events = msgspec.msgpack.decode(payload)[:2]
            for event in events:
                resident.take(as_map(event))
            # The sum can be trusted with first_seq 0 or 1 (0 is the clearing of the new cache, sent
            # before anyone can have subscribed) and no batch lost.
            line = {"at": written_at, "got": time.time(), "seq": sequence, "resident_tokens": resident.tokens,
                    "stored": resident.stored, "removed": resident.removed, "unknown_removed": resident.unknown,
                    "cleared": resident.cleared, "first_seq": first, "lost_batches": lost}  # fmt: skip
            out.write(json.dumps(line) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ways = parser.add_subparsers(required=True)
    p = ways.add_parser("log")
    p.add_argument("file")
    p.add_argument("--all", action="store_true", help="every line, not only the newest")
    p.set_defaults(run=from_log)
    p = ways.add_parser("loads")
    p.add_argument("url")
    p.add_argument("out")
    p.add_argument("--hz", type=float, default=10)
    p.set_defaults(run=from_loads)
    p = ways.add_parser("events")
    p.add_argument("endpoint")
    p.add_argument("out")
    p.set_defaults(run=from_events)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    options.run(options)


if __name__ == "__main__":
    main()
