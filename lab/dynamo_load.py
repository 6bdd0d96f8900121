#!/usr/bin/env python3
"""Sends made-up completions to the frontend of dynamo.py (POST /v1/completions), and sums up what came back.

Start it inside the lab's network namespace: nsenter -t NETNS_PID -n python3 dynamo_load.py PORT ...
SIGTERM or SIGINT ends it early. Standard library only.
"""

import argparse
import http.client
import json
import os
import random
import signal
import threading
import time


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("port", type=int)
    p.add_argument("-n", "--requests", type=int, default=60)
    p.add_argument("-p", "--prompt", type=int, default=464, help="tokens of each prompt")
    p.add_argument("-o", "--output", type=int, default=200, help="tokens of each answer")
    p.add_argument("-c", "--concurrency", type=int, default=12)
    p.add_argument("--prefix", type=int, default=64, help="leading tokens that all prompts share")
    p.add_argument("--seed", type=int, default=1)
    return p.parse_args()


class Load:
    def __init__(self, options):
        self.options = options
        self.lock = threading.Lock()
        self.results, self.errors, self.left = [], [], options.requests

    def words(self, seed, count):
        rng = random.Random(seed)
        return [f"w{rng.randrange(3, 512)}" for _ in range(count)]

    def ask(self, number):
        prefix = min(self.options.prefix, self.options.prompt)
        seed = self.options.seed * 1_000_003
        prompt = self.words(seed, prefix) + self.words(seed + number, self.options.prompt - prefix)
        body = json.dumps(
            {"model": "tiny", "prompt": " ".join(prompt), "max_tokens": self.options.output, "ignore_eos": True}
        )
        connection = http.client.HTTPConnection("127.0.0.1", self.options.port, timeout=300)
        try:
            connection.request("POST", "/v1/completions", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise OSError(f"{answer.status} {text[:200].decode(errors='replace')}")
        return json.loads(text)["usage"]

    def work(self):
        while True:
            with self.lock:
                if not self.left:
                    return
                self.left -= 1
                number = self.options.requests - self.left
            try:
                result = self.ask(number)
                with self.lock:
                    self.results.append(result)
            except (OSError, ValueError, KeyError, http.client.HTTPException) as error:
                with self.lock:
                    self.errors.append(f"{type(error).__name__}: {error}")


def main():
    options = parse_arguments()
    stop = threading.Event()
    for s in (signal.SIGTERM, signal.SIGINT):
        signal.signal(s, lambda *_: stop.set())
    load = Load(options)
    began = time.monotonic()
    count = min(options.concurrency, options.requests)
    workers = [threading.Thread(target=load.work, daemon=True) for _ in range(count)]
    for w in workers:
        w.start()
    while any(w.is_alive() for w in workers) and not stop.is_set():
        stop.wait(0.05)
    with load.lock:
        summary = {
            "completed": len(load.results),
            "failed": len(load.errors),
            "errors": sorted(set(load.errors))[:5],
            "seconds": round(time.monotonic() - began, 2),
            "prompt_tokens": sum(r["prompt_tokens"] for r in load.results),
            "completion_tokens": sum(r["completion_tokens"] for r in load.results),
        }
    print(json.dumps(summary), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
