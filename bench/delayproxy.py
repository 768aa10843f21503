#!/usr/bin/env python3
"""A TCP proxy on loopback that makes every round trip take longer, and counts what passes.

    delayproxy.py --map LISTEN=[HOST:]PORT[,NAME] [--map ...] [--rtt MS] [--setup-rtts N]
                  [--capture TARGET]

    --map 0=3000,api    listen on 127.0.0.1, on a port that the system picks (or the one named), and
                        forward to 127.0.0.1:3000; may be repeated
    --rtt 20            the round trip in milliseconds, half of it in each direction
    --setup-rtts 1      round trips charged for opening a connection: 1 is TCP
    --capture /a/b      keep the last HTTP/1.1 request for this target, for GET /captured

When it serves, it prints one line of JSON, {"admin": PORT, "ports": {NAME: PORT}}. It ends on
SIGINT and SIGTERM. The control port answers HTTP/1.1 on loopback:

    GET /stats      the counters since the last reset
    GET /reset      the same answer, then every counter is zero
    GET /rtt/20     changes the round trip of connections that are opened from now on
    GET /captured   the request of --capture: {"head": text, "body": base64}, or null

Model. What arrives is passed on half a round trip later, in both directions, in order, so that a
request and its answer cost one round trip more than without the proxy, however large they are. The
kernel completes a TCP handshake before the proxy can delay it; therefore the client's first bytes
count as sent no earlier than setup-rtts round trips after the connection was accepted, and a
request on a fresh connection costs setup-rtts + 1 round trips. Bandwidth is not limited; TCP's slow
start and packet loss are not modelled.

Counters, for each map: connections opened; the most open at one time; HTTP/1.1 requests, in total
and by "METHOD target" without the query; turns, that is how often the client spoke after it had
heard the server (or first), each of which is a wait for a round trip; bytes up and down. A stream
that is not HTTP/1.1 is passed on all the same, without counting requests.
"""
import argparse
import asyncio
import base64
import collections
import json
import selectors
import signal
import sys

# Most bytes that wait in one direction of one connection before its sender is no longer read.
# Guards against a receiver slower than the sender; it allows 300 MB/s through a delay of 40 ms.
MAX_QUEUED = 12 << 20
# Longest message head or chunk-size line that is looked at before a stream counts as not HTTP.
MAX_HEAD = 64 << 10
# Largest request body that --capture keeps.
MAX_CAPTURE = 1 << 20
# Most connections at one time: select(2) takes descriptors below 1024, two for each of these.
MAX_CONNECTIONS = 480
# How much too early a delayed piece may leave, in seconds: the resolution of select(2) and the
# rounding of the clock, so that no timer is armed twice for one piece.
EARLY = 20e-6

# What a lane carries besides bytes: the sender will say no more; the sender is gone.
EOF = object()
ABORT = object()


def size_of(data):
    return len(data) if isinstance(data, bytes) else 0


class Counters:
    """What passed through one map since the last reset."""

    def __init__(self):
        self.open = 0
        self.clear()

    def clear(self):
        self.connections = 0
        self.max_open = self.open
        self.requests = 0
        self.turns = 0
        self.bytes_up = 0
        self.bytes_down = 0
        self.targets = collections.Counter()

    def as_dict(self):
        return {"connections": self.connections, "open": self.open, "max_open": self.max_open,
                "requests": self.requests, "turns": self.turns, "bytes_up": self.bytes_up,
                "bytes_down": self.bytes_down, "targets": dict(self.targets)}


class NotHttp(Exception):
    """The stream is not HTTP/1.1, or not well formed."""


class Requests:
    """Finds the requests in what a client sends on one connection.

    on_request(method, target) is called for each as soon as its head is there, and on_captured(
    head, body) when a request for the captured target is complete. Nothing but heads, and the body
    of a captured request, is kept.
    """

    def __init__(self, on_request, capture=None, on_captured=None):
        self.on_request = on_request
        self.capture = capture
        self.on_captured = on_captured
        self.buffer = b""
        self.left = 0
        self.head = None
        self.body = None
        self.read = self.read_head

    def feed(self, data):
        if self.read is None:
            return
        # The bulk of a large body goes by without being copied.
        if not self.buffer and self.body is None and self.left > len(data):
            self.left -= len(data)
            return
        self.buffer += data
        try:
            while self.buffer and self.read():
                pass
        except (NotHttp, ValueError):
            self.read = None
            self.buffer = b""

    def line(self, end):
        """Takes a piece that ends with end off the buffer; None as long as it is incomplete."""
        at = self.buffer.find(end)
        if max(at, len(self.buffer) if at < 0 else 0) > MAX_HEAD:
            raise NotHttp
        if at < 0:
            return None
        piece, self.buffer = self.buffer[:at], self.buffer[at + len(end):]
        return piece

    def read_head(self):
        if not b"A" <= self.buffer[:1] <= b"Z":         # TLS and others do not begin like a method
            raise NotHttp
        head = self.line(b"\r\n\r\n")
        if head is None:
            return False
        lines = head.decode("latin-1").split("\r\n")
        words = lines[0].split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            raise NotHttp
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        target = words[1].split("?")[0]
        self.on_request(words[0], target)
        if self.capture is not None and target == self.capture:
            self.head, self.body = head.decode("latin-1"), b""
        if headers.get("transfer-encoding", "").lower().endswith("chunked"):
            self.read = self.read_chunk_size
        else:
            self.left = int(headers.get("content-length") or 0)
            self.read = self.read_body
            if not self.left:
                self.complete()
        return True

    def take(self):
        """Counts off, and keeps if it is wanted, what the buffer holds of the present body."""
        piece, self.buffer = self.buffer[:self.left], self.buffer[self.left:]
        self.left -= len(piece)
        if self.body is not None:
            self.body += piece
            if len(self.body) > MAX_CAPTURE:
                self.head = self.body = None
        return not self.left

    def read_body(self):
        if self.take():
            self.complete()
        return True

    def read_chunk_size(self):
        line = self.line(b"\r\n")
        if line is None:
            return False
        self.left = int(line.split(b";")[0], 16)
        self.read = self.read_chunk if self.left else self.read_trailer
        return True

    def read_chunk(self):
        if self.take():
            self.read = self.read_chunk_end
        return True

    def read_chunk_end(self):
        if self.line(b"\r\n") is None:
            return False
        self.read = self.read_chunk_size
        return True

    def read_trailer(self):
        line = self.line(b"\r\n")
        if line == b"":
            self.complete()
        return line is not None

    def complete(self):
        if self.body is not None:
            self.on_captured(self.head, self.body)
        self.head = self.body = None
        self.read = self.read_head


class Lane:
    """One direction of one connection: what is put in comes out in order, a delay later.

    deliver(data) passes a piece on; set_reading(bool) stops and restarts the sender. loop gives the
    time and the timers. Holds at most MAX_QUEUED and the piece that exceeded it.
    """

    def __init__(self, loop, delay, deliver, set_reading):
        self.loop = loop
        self.delay = delay
        self.deliver = deliver
        self.set_reading = set_reading
        self.queue = collections.deque()
        self.size = 0
        self.timer = None
        self.blocked = True             # until there is somebody to deliver to
        self.stopped_sender = False

    def put(self, data, not_before=0.0):
        """Takes bytes, EOF or ABORT, sent now or at not_before if that is later."""
        due = max(self.loop.time(), not_before) + self.delay
        if self.queue:
            due = max(due, self.queue[-1][0])
        self.queue.append((due, data))
        self.size += size_of(data)
        self.run()
        if self.size > MAX_QUEUED and not self.stopped_sender:
            self.stopped_sender = True
            self.set_reading(False)

    def block(self):
        """The receiver takes no more for now."""
        self.blocked = True

    def unblock(self):
        self.blocked = False
        self.run()

    def run(self):
        """Delivers what is due, and sees to it that the rest will be."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        while self.queue and not self.blocked and self.queue[0][0] <= self.loop.time() + EARLY:
            _, data = self.queue.popleft()
            self.size -= size_of(data)
            self.deliver(data)          # may block
        if self.queue and not self.blocked:
            self.timer = self.loop.call_at(self.queue[0][0], self.run)
        if self.stopped_sender and self.size <= MAX_QUEUED // 2:
            self.stopped_sender = False
            self.set_reading(True)

    def drop(self):
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        self.queue.clear()
        self.size = 0


class End(asyncio.Protocol):
    """One of the two sockets of a proxied connection; incoming is the lane that it feeds, outgoing
    the one that feeds it."""

    def __init__(self, link):
        self.link = link
        self.transport = None
        self.incoming = None
        self.outgoing = None

    def connection_made(self, transport):
        self.transport = transport
        self.link.connected(self)

    def data_received(self, data):
        self.link.received(self, data)

    def eof_received(self):
        self.link.received(self, EOF)
        return True                     # the other direction goes on

    def connection_lost(self, exc):
        self.link.lost(self)

    def pause_writing(self):
        self.outgoing.block()

    def resume_writing(self):
        self.outgoing.unblock()

    def deliver(self, data):
        if self.transport.is_closing():
            return
        if data is EOF:
            self.transport.write_eof()
            self.link.finished()
        elif data is ABORT:
            self.transport.abort()
        else:
            self.transport.write(data)

    def set_reading(self, on):
        if self.transport is not None and not self.transport.is_closing():
            (self.transport.resume_reading if on else self.transport.pause_reading)()


class Link:
    """One proxied connection: two ends and a lane in each direction."""

    def __init__(self, proxy):
        self.proxy = proxy
        self.counters = proxy.counters
        self.client = End(self)
        self.server = End(self)
        rtt = proxy.settings.rtt
        self.up = Lane(proxy.loop, rtt / 2, self.server.deliver, self.client.set_reading)
        self.down = Lane(proxy.loop, rtt / 2, self.to_client, self.server.set_reading)
        self.client.incoming = self.server.outgoing = self.up
        self.server.incoming = self.client.outgoing = self.down
        self.requests = Requests(self.on_request, proxy.settings.capture, self.on_captured)
        self.sent_from = proxy.loop.time() + proxy.settings.setup_rtts * rtt
        self.client_has_the_word = False
        self.finished_ends = 0

    def connected(self, end):
        if end is self.server:
            self.up.unblock()
            return
        counters = self.counters
        counters.connections += 1
        counters.open += 1
        counters.max_open = max(counters.max_open, counters.open)
        self.down.unblock()
        if counters.open > MAX_CONNECTIONS:
            print("delayproxy: more than %d connections at a time: refused" % MAX_CONNECTIONS,
                  file=sys.stderr, flush=True)
            end.transport.abort()
            return
        self.proxy.spawn(self.open_server())

    async def open_server(self):
        try:
            await self.proxy.loop.create_connection(lambda: self.server, *self.proxy.target)
        except OSError as error:
            print("delayproxy: %s:%d: %s" % (*self.proxy.target, error), file=sys.stderr,
                  flush=True)
            self.client.transport.abort()
            return

    def received(self, end, data):
        if end is self.server:
            self.counters.bytes_down += size_of(data)
            self.down.put(data)
            return
        if size_of(data):
            self.counters.bytes_up += len(data)
            if not self.client_has_the_word:
                self.client_has_the_word = True
                self.counters.turns += 1
            self.requests.feed(data)
        self.up.put(data, self.sent_from)

    def to_client(self, data):
        if size_of(data):
            self.client_has_the_word = False
        self.client.deliver(data)

    def on_request(self, method, target):
        self.counters.requests += 1
        self.counters.targets[method + " " + target] += 1

    def on_captured(self, head, body):
        self.proxy.settings.captured = (head, body)

    def finished(self):
        """One end was told that no more comes; when both were, the connection is over."""
        self.finished_ends += 1
        if self.finished_ends == 2:
            self.client.transport.close()
            self.server.transport.close()

    def lost(self, end):
        if end is self.client:
            self.counters.open -= 1
        end.outgoing.drop()
        end.incoming.put(ABORT)         # after what it said before


class Settings:
    """What all maps share; the control port changes rtt and reads captured."""

    def __init__(self, rtt, setup_rtts, capture):
        self.rtt = rtt                  # seconds
        self.setup_rtts = setup_rtts
        self.capture = capture
        self.captured = None


class Proxy:
    """One map: a listening port and the place where its connections lead."""

    def __init__(self, loop, settings, listen, target, name):
        self.loop = loop
        self.settings = settings
        self.listen = listen
        self.target = target
        self.name = name
        self.port = None
        self.counters = Counters()
        self.tasks = set()

    async def start(self):
        server = await self.loop.create_server(lambda: Link(self).client, "127.0.0.1", self.listen,
                                               backlog=512)
        self.port = server.sockets[0].getsockname()[1]

    def spawn(self, coroutine):
        # The loop itself keeps only a weak reference to a task.
        task = self.loop.create_task(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)


def answer(path, settings, proxies):
    """The control port: does what path says and returns what to answer, as a JSON value."""
    if path == "/captured":
        if settings.captured is None:
            return None
        head, body = settings.captured
        return {"head": head, "body": base64.b64encode(body).decode()}
    stats = {proxy.name: proxy.counters.as_dict() for proxy in proxies}
    if path == "/reset":
        for proxy in proxies:
            proxy.counters.clear()
    elif path.startswith("/rtt/"):
        settings.rtt = float(path[len("/rtt/"):]) / 1000
    elif path != "/stats":
        raise ValueError("no such path")
    return {"rtt_ms": settings.rtt * 1000, "maps": stats}


async def control(reader, writer, settings, proxies):
    try:
        words = (await reader.readline()).decode("latin-1").split(" ")
        while (await reader.readline()).strip():
            pass
        try:
            status, value = "200 OK", answer(words[1], settings, proxies)
        except (ValueError, IndexError) as error:
            status, value = "404 Not Found", {"error": str(error)}
        body = json.dumps(value).encode()
        writer.write(b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nConnection: close\r\n"
                     b"Content-Length: %d\r\n\r\n%s" % (status.encode(), len(body), body))
        await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


def parse_map(text):
    """LISTEN=[HOST:]PORT[,NAME] -> (listen, (host, port), name)"""
    try:
        addresses, _, name = text.partition(",")
        listen, _, target = addresses.partition("=")
        host, _, port = target.rpartition(":")
        return int(listen), (host.strip("[]") or "127.0.0.1", int(port)), name or target
    except ValueError:
        raise argparse.ArgumentTypeError("not LISTEN=[HOST:]PORT[,NAME]: %r" % text) from None


async def serve(options):
    loop = asyncio.get_running_loop()
    settings = Settings(options.rtt / 1000, options.setup_rtts, options.capture)
    proxies = [Proxy(loop, settings, *one) for one in options.map]
    for proxy in proxies:
        await proxy.start()
    admin = await asyncio.start_server(lambda r, w: control(r, w, settings, proxies),
                                       "127.0.0.1", 0)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    print(json.dumps({"admin": admin.sockets[0].getsockname()[1],
                      "ports": {proxy.name: proxy.port for proxy in proxies}}), flush=True)
    await stop.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--map", action="append", required=True, type=parse_map)
    parser.add_argument("--rtt", type=float, default=0.0)
    parser.add_argument("--setup-rtts", type=float, default=1.0)
    parser.add_argument("--capture")
    # select(2) takes its timeout in microseconds; epoll would round each delay up by a millisecond.
    loop = asyncio.SelectorEventLoop(selectors.SelectSelector())
    loop.run_until_complete(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
