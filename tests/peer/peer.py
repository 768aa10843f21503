#!/usr/bin/env python3
"""The scripted peer: an HTTP/1.1 server on loopback that does what a script says, or stands between
a client and a server and spoils what the script names. README.md beside it has the script language.

    peer.py [--upstream HOST:PORT] [-e TEXT]... [FILE.script]...

    --upstream HOST:PORT  pass on what the script does not spoil; without it such requests get 501
    -e TEXT               script text, as if it were a file

It prints "listening PORT" and then obeys lines on its standard input, each answered by one line:

    count METHOD PATH     how many such requests have come (* is a wildcard)
    count WHAT            connections, requests, turns, bytes_up or bytes_down
    counts                all of that and the routes, as JSON
    requests              every request, as JSON
    script TEXT           more script, TEXT as a JSON string
    await NAME            answers when a request waits at the barrier, or it is released
    release NAME          opens the barrier
    end                   checks and ends, as the end of the input does

The answer to `end` is "ok", or what was not met. Exit code 0; 1 if an expect was not met (standard
error says which); 2 for a script that makes no sense.
"""
import argparse
import asyncio
import json
import os
import signal
import sys

from count import Counts
from link import Link
from script import Pattern, Script, ScriptError


class Barrier:
    def __init__(self):
        self.released = asyncio.Event()
        self.reached = asyncio.Event()          # by a request, or released

    async def wait(self):
        self.reached.set()
        await self.released.wait()

    def release(self):
        self.released.set()
        self.reached.set()


class Peer:
    def __init__(self, script, upstream):
        self.script = script
        self.upstream = upstream
        self.counts = Counts()
        self.barriers = {}
        self.complaints = []
        self.links = set()
        self.server = None

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=512)
        return self.server.sockets[0].getsockname()[1]

    async def serve(self, reader, writer):
        task = asyncio.current_task()
        self.links.add(task)
        try:
            await Link(self, reader, writer).run()
        except Exception as error:      # a fault of the peer's own must not pass for the script's
            self.complain("fault in the peer: %r" % error)
            raise
        finally:
            self.links.discard(task)

    async def stop(self):
        self.server.close()
        links = list(self.links)
        for task in links:
            task.cancel()
        await asyncio.gather(*links, return_exceptions=True)

    def barrier(self, name):
        if name not in self.script.barriers:
            raise ValueError("no such barrier: %r" % name)
        return self.barriers.setdefault(name, Barrier())

    def complain(self, text):
        self.complaints.append(text)

    def trigger(self, request, answered):
        for trigger in self.script.triggers:
            if (trigger.answered == answered
                    and trigger.pattern.matches(request.method, request.target)):
                self.barrier(trigger.barrier).release()

    def arrived(self, request):
        self.trigger(request, False)

    def answered(self, request):
        self.trigger(request, True)

    def verdict(self):
        """What was not met, as lines; empty if all is well."""
        return self.complaints + [text for rule in self.script.rules if (text := rule.unmet())]


class Control:
    """The lines on standard input."""

    def __init__(self, peer):
        self.peer = peer
        self.lines = asyncio.Queue()
        self.ended = asyncio.Event()

    def feed(self, fd):
        data = os.read(fd, 65536)
        if data:
            for piece in data.splitlines(True):
                self.lines.put_nowait(piece)
        else:
            self.lines.put_nowait(None)
            self.ended.set()
            asyncio.get_running_loop().remove_reader(fd)

    async def run(self):
        line = b""
        while (piece := await self.lines.get()) is not None:
            line += piece
            if not line.endswith(b"\n"):
                continue
            words, line = line.decode().strip(), b""
            if words == "end":
                return
            try:
                answer = await self.answer(*words.partition(" ")[::2])
            except (ScriptError, LookupError, ValueError, TypeError) as error:
                answer = "error: %s" % " ".join(str(error).split())
            print(answer, flush=True)

    async def answer(self, word, rest):
        peer = self.peer
        if word == "count":
            method, _, path = rest.partition(" ")
            if path:
                return peer.counts.matching(Pattern(method, path))
            return peer.counts.as_dict()[method]
        if word == "counts":
            return json.dumps(peer.counts.as_dict())
        if word == "requests":
            return json.dumps([request.as_dict() for request in peer.counts.requests])
        if word == "script":
            peer.script.add(json.loads(rest), "script")
        elif word == "release":
            peer.barrier(rest).release()
        elif word == "await":
            await first(peer.barrier(rest).reached.wait(), self.ended.wait())
        else:
            raise ValueError("no such command: %r" % word)
        return "ok"


async def first(*waits):
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()


async def serve(script, upstream):
    loop = asyncio.get_running_loop()
    peer = Peer(script, upstream)
    control = Control(peer)
    running = asyncio.ensure_future(control.run())
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, running.cancel)
    port = await peer.start()
    print("listening %d" % port, flush=True)
    loop.add_reader(0, control.feed, 0)
    await asyncio.wait([running])
    await peer.stop()
    wrong = peer.verdict()
    print("; ".join(wrong) or "ok", flush=True)
    for line in wrong:
        print("peer: %s" % line, file=sys.stderr, flush=True)
    return 1 if wrong else 0


def address(text):
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--upstream", type=address)
    parser.add_argument("-e", dest="texts", action="append", default=[], metavar="TEXT")
    parser.add_argument("files", nargs="*", metavar="FILE")
    options = parser.parse_args()
    script = Script()
    try:
        for text in options.texts:
            script.add(text, "-e")
        for path in options.files:
            script.add_file(path)
    except (ScriptError, OSError) as error:
        print("peer: %s" % error, file=sys.stderr)
        return 2
    return asyncio.run(serve(script, options.upstream))


if __name__ == "__main__":
    sys.exit(main())
