#!/usr/bin/env python3
"""Runs a command several times and prints medians: wall time, its own CPU time (its children's included), memory.

    benches/timed.py RUNS NAME COMMAND [ARGUMENT…]

The command's output is thrown away; it must end with one of the codes 0, 1 and 3. Compare ratios: these are times of
whatever machine this is. Standard library only.
"""

import os
import statistics
import sys
import time


def run(command):
    began = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.execvp(command[0], command)
    _, status, used = os.wait4(pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1, 3):
        sys.exit(f"{command[0]} failed")
    return time.perf_counter() - began, used.ru_utime, used.ru_stime, used.ru_maxrss


def main():
    runs, name, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    run(command)  # the first one fills the page cache
    wall, user, system, memory = zip(*(run(command) for _ in range(runs)))
    own = [sum(both) for both in zip(user, system)]
    ms = lambda times: f"{statistics.median(times) * 1e3:.1f} ms"  # noqa: E731
    print(
        f"{name}: {ms(wall)} wall ({min(wall) * 1e3:.1f} to {max(wall) * 1e3:.1f}), {ms(own)} its own time "
        f"({ms(user)} user, {ms(system)} system), {statistics.median(memory) / 1024:.1f} MiB; medians of {runs}"
    )


main()
