#!/usr/bin/env python3
"""Sends made-up requests to a server, or to a gateway or frontend before it, and sums up what came back.

SGLang and its gateway are asked by POST /generate; with --completions it is POST /v1/completions, which all others know.
Start it inside the lab's network namespace: nsenter -t NETNS_PID -n python3 load.py PORT ...
SIGTERM or SIGINT ends it early: open requests are dropped and the summary says so.

Standard library only.
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
    p.add_argument("-n", "--requests", type=int, default=16)
    p.add_argument("-p", "--prompt", type=int, default=200, help="tokens of each prompt")
    p.add_argument("-o", "--output", type=int, default=100, help="tokens of each answer")
    p.add_argument("--spread", type=float, default=0, help="share by which answers are shorter, by chance, at most: 0 to 1")
    p.add_argument("-c", "--concurrency", type=int, default=8)
    p.add_argument("--prefix", type=int, default=0, help="leading tokens that all prompts share")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--ramp", type=float, default=0, metavar="S", help="spread the first requests over this time")
    p.add_argument("--seconds", type=float, help="end after this time")
    p.add_argument("--completions", action="store_true", help="ask by POST /v1/completions")
    p.add_argument(
        "--ranks",
        type=int,
        metavar="N",
        help="of N data-parallel ranks of vLLM, give each the same share of the requests at once",
    )
    p.add_argument(
        "--mode",
        choices=("ignore_eos", "min_new_tokens"),
        default="ignore_eos",
        help="how a full-length answer is had; the scheduler reserves exactly for ignore_eos, "
        "so only min_new_tokens can make it take in too much and retract (not with --completions)",
    )
    options = p.parse_args()
    if options.completions and options.mode != "ignore_eos":
        p.error("completions are always had with ignore_eos")
    return options


class Load:
    def __init__(self, options):
        self.options = options
        self.lock = threading.Lock()
        self.results, self.errors, self.left = [], [], options.requests
        rng = random.Random(options.seed)
        self.prefix = [rng.randrange(3, 500) for _ in range(min(options.prefix, options.prompt))]

    def prompt(self, number):
        rng = random.Random(self.options.seed * 1_000_003 + number)
        return self.prefix + [rng.randrange(3, 500) for _ in range(self.options.prompt - len(self.prefix))]

    def output(self, number):
        """Requests that begin together also end together, unless their answers differ."""
        shorter = random.Random(-number).random() * self.options.spread
        return max(1, round(self.options.output * (1 - shorter)))

    def question(self, number):
        """The path and body of a request, and where in the answer it says what it was."""
        o, prompt, output = self.options, self.prompt(number), self.output(number)
        if o.completions:
            words = " ".join(f"w{token}" for token in prompt)  # one token each: tiny_model.py
            body = {"model": "tiny", "prompt": words, "max_tokens": output, "ignore_eos": True}
            return "/v1/completions", body, "usage"
        length = {"ignore_eos": True} if o.mode == "ignore_eos" else {"min_new_tokens": output}
        parameters = {"max_new_tokens": output, "temperature": 0.8, **length}
        return "/generate", {"input_ids": prompt, "sampling_params": parameters}, "meta_info"

    def ask(self, number, rank):
        path, body, said = self.question(number)
        headers = {"Content-Type": "application/json"}
        if rank is not None:
            headers["X-data-parallel-rank"] = str(rank)
        began = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.options.port, timeout=900)
        try:
            connection.request("POST", path, json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise OSError(f"{answer.status} {text[:200].decode(errors='replace')}")
        return {**json.loads(text)[said], "took_s": time.monotonic() - began}

    def work(self, delay, rank):
        """Sends one request after the other, all to the same rank: so that one that is slow holds up no other."""
        time.sleep(delay)
        while True:
            with self.lock:
                if not self.left:
                    return
                self.left -= 1
                number = self.options.requests - self.left
            try:
                result = self.ask(number, rank)
                with self.lock:
                    self.results.append(result)
            except (OSError, ValueError, KeyError, http.client.HTTPException) as error:
                with self.lock:
                    self.errors.append(f"{type(error).__name__}: {error}")

    def summary(self, seconds, ended_early):
        def total(name):
            return sum(r.get(name) or 0 for r in self.results)

        took = sorted(r["took_s"] for r in self.results)
        return {
            "port": self.options.port,
            "mode": self.options.mode,
            "asked": self.options.requests - self.left,
            "completed": len(self.results),
            "failed": len(self.errors),
            "errors": sorted(set(self.errors))[:5],
            "ended_early": ended_early,
            "seconds": round(seconds, 2),
            "prompt_tokens": total("prompt_tokens"),
            "cached_tokens": total("cached_tokens"),
            "completion_tokens": total("completion_tokens"),
            "retractions": total("num_retractions"),
            "slowest_s": round(took[-1], 2) if took else None,
            "median_s": round(took[len(took) // 2], 2) if took else None,
        }


def main():
    options = parse_arguments()
    stop = threading.Event()
    for s in (signal.SIGTERM, signal.SIGINT):
        signal.signal(s, lambda *_: stop.set())
    load = Load(options)
    began = time.monotonic()
    count = min(options.concurrency, options.requests)
    ranks = [i % options.ranks if options.ranks else None for i in range(count)]
    workers = [
        threading.Thread(target=load.work, args=(options.ramp * i / count, rank), daemon=True)
        for i, rank in enumerate(ranks)
    ]
    for w in workers:
        w.start()
    deadline = began + options.seconds if options.seconds else float("inf")
    while any(w.is_alive() for w in workers) and not stop.is_set() and time.monotonic() < deadline:
        stop.wait(0.05)
    ended_early = any(w.is_alive() for w in workers)
    with load.lock:
        print(json.dumps(load.summary(time.monotonic() - began, ended_early)), flush=True)
    os._exit(0)  # drops the open connections, which makes the server give those requests up


main()
