#!/usr/bin/env python3
"""A bad line to a server: every connection to the port that this prints is passed on to HOST:PORT, but later, not
wholly, or not at all.

A delay holds nothing back: whatever comes in goes out that much later. Counts are bytes of the server's answer, for
each connection by itself. Listens on 127.0.0.1; ends when its standard input closes. Standard library only.
"""

import argparse
import asyncio
import os
import socket
import struct
import sys

CHUNK = 1 << 16
UNDER_WAY = 4096  # chunks in one direction; more than a fast line sends in a second
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: nothing more is sent, the other side gets a reset


class Cut(Exception):
    """The line is to break now."""


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("target", metavar="HOST:PORT")
    p.add_argument("--delay", type=float, default=0, metavar="S", help="in each direction")
    ends = p.add_mutually_exclusive_group()
    ends.add_argument("--cut-after", type=int, metavar="BYTES", help="pass on so many, then reset both connections")
    ends.add_argument("--stall-after", type=int, metavar="BYTES", help="pass on so many, then no more, connected")
    ends.add_argument("--silent", action="store_true", help="accept, and say nothing")
    options = p.parse_args()
    host, _, port = options.target.rpartition(":")
    options.target = (host.strip("[]"), int(port))
    return options


def reset(writer):
    connection = writer.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    writer.transport.abort()


async def take(reader, under_way, delay):
    data = b"more"
    while data:
        data = await reader.read(CHUNK)
        await under_way.put((asyncio.get_running_loop().time() + delay, data))


async def give(writer, under_way, limit, cut):
    """Sends what is due, up to `limit` bytes."""
    passed = 0
    while True:
        due, data = await under_way.get()
        await asyncio.sleep(max(0, due - asyncio.get_running_loop().time()))
        rest = len(data) if limit is None else min(len(data), limit - passed)
        if rest:
            writer.write(data[:rest])
            await writer.drain()
            passed += rest
        if passed == limit and cut:
            await asyncio.sleep(0.1)  # or the other side, when it is just sending, may see the reset first
            raise Cut
        if not data:
            if passed != limit:
                writer.write_eof()
            return


async def serve(options, reader, writer):
    writer.transport.set_write_buffer_limits(0)  # what is drained is sent, and a cut comes after it
    if options.silent:
        while await reader.read(CHUNK):
            pass
        return
    far_reader, far_writer = await asyncio.open_connection(*options.target, limit=CHUNK)
    cut = options.cut_after is not None
    limit = options.cut_after if cut else options.stall_after
    try:
        async with asyncio.TaskGroup() as both:
            for source, sink, most in ((reader, far_writer, None), (far_reader, writer, limit)):
                under_way = asyncio.Queue(UNDER_WAY)
                both.create_task(take(source, under_way, options.delay))
                both.create_task(give(sink, under_way, most, cut))
    except BaseException:
        reset(far_writer)
        raise
    far_writer.close()


async def answer(options, reader, writer):
    try:
        await serve(options, reader, writer)
        writer.close()
    except* (OSError, Cut):
        reset(writer)


async def main(options):
    server = await asyncio.start_server(lambda r, w: answer(options, r, w), "127.0.0.1", 0, limit=CHUNK, backlog=100)
    print(server.sockets[0].getsockname()[1], flush=True)
    # At once: whatever is still connected is reset by the kernel, or closed.
    asyncio.get_running_loop().add_reader(0, lambda: sys.stdin.buffer.read1() or os._exit(0))
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(parse_arguments()))
