"""What a terminal program shows: runs it on a pseudo-terminal and reads its screen. Needs pyte (requirements.txt)."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

import pyte

COLUMNS, ROWS = 180, 56


def show(command, environment, folder, seconds, until=None):
    """(screens, seconds until `until` matched or None, peak KiB): the program is watched for `seconds`, or until the text
    of its screen satisfies `until`, then ended."""
    began = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe(command[0], command, {**environment, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "LINES": str(ROWS)})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    text, matched, peak = "", None, 0
    while time.perf_counter() - began < seconds:
        ready, _, _ = select.select([terminal], [], [], 0.02)
        if ready:
            try:
                got = os.read(terminal, 65536)
            except OSError:
                break
            if not got:
                break
            answer(got, terminal)
            stream.feed(got)
            text = "\n".join(line.rstrip() for line in screen.display).strip("\n")
            if until and until(text):
                matched = time.perf_counter() - began
                break
    try:
        with open(f"/proc/{pid}/status") as status:
            peak = next((int(line.split()[1]) for line in status if line.startswith("VmHWM")), 0)
    except OSError:
        pass
    end(pid)
    os.close(terminal)
    return text, matched, peak


def answer(got, terminal):
    """Questions that a terminal answers: where is the cursor, what are you."""
    if b"\x1b[6n" in got:
        os.write(terminal, b"\x1b[1;1R")
    if b"\x1b[c" in got or b"\x1b[0c" in got:
        os.write(terminal, b"\x1b[?62c")


def end(pid):
    """Ends a process that we started, and waits for it."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(pid, sign)
        except ProcessLookupError:
            pass
        for _ in range(100):
            if os.waitpid(pid, os.WNOHANG)[0]:
                return
            time.sleep(0.02)
