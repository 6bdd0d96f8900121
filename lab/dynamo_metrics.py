#!/usr/bin/env python3
"""dynamo_metrics.py TREE OUT: what Dynamo's workers publish of their KV use on the event plane (topic kv_metrics over
ZMQ), found by the discovery tree of files, as JSON lines until SIGTERM. Needs the Python of install-dynamo.sh.

How it is written: engines/dynamo-worker/NOTES.md.
"""

import json
import pathlib
import signal
import sys
import time

import msgspec
import zmq

TOPIC = "kv_metrics"


def endpoints(tree):
    for path in (tree / "v1/event_channels").glob("*"):
        try:
            channel = json.loads(path.read_text())
        except (OSError, ValueError):
            continue
        if channel.get("topic") == TOPIC and channel["transport"]["kind"] == "Zmq":
            yield channel["transport"]["config"]["endpoint"]


def main():
    tree, out = pathlib.Path(sys.argv[1]), sys.argv[2]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    socket = zmq.Context().socket(zmq.SUB)
    socket.setsockopt(zmq.SUBSCRIBE, TOPIC.encode())
    socket.setsockopt(zmq.RCVHWM, 0)
    connected = set()
    with open(out, "a", buffering=1) as lines:
        while True:
            for endpoint in set(endpoints(tree)) - connected:
                socket.connect(endpoint)
                connected.add(endpoint)
            if not socket.poll(500):
                continue
            _topic, _publisher, sequence, body = socket.recv_multipart()
            length = int.from_bytes(body[1:5], "big")
            envelope = msgspec.msgpack.decode(body[5 : 5 + length])
            inner = msgspec.msgpack.decode(envelope["payload"])
            when = {"got": time.time(), "at": envelope["published_at"] / 1000}
            lines.write(json.dumps({**when, "seq": int.from_bytes(sequence, "big"), **inner}) + "\n")


main()
