"""HTTP/1.1 on one socket: heads and bodies in, bytes out, and the ways a connection ends."""
import asyncio
import contextlib
import socket
import struct

# Longest head, and most that is read ahead of a request that is still being answered.
MAX_HEAD = 64 << 10
PIECE = 64 << 10


class WireError(Exception):
    """Not HTTP/1.1, or cut in the middle."""


class Head:
    """First line and headers of a request or an answer."""

    def __init__(self, first, headers):
        self.first = first
        self.headers = headers          # [(name, value)]

    @classmethod
    def parse(cls, raw):
        first, *lines = raw.decode("latin-1").split("\r\n")
        headers = []
        for line in lines:
            name, colon, value = line.partition(":")
            if not colon:
                raise WireError("not a header: %r" % line)
            headers.append((name.strip(), value.strip()))
        head = cls(first, headers)
        if len(first.split(" ", 2)) < 2 or "HTTP/1." not in first:
            raise WireError("not HTTP/1.1: %r" % first)
        return head

    @property
    def method(self):
        return self.first.split(" ")[0]

    @property
    def target(self):
        return self.first.split(" ")[1]

    @property
    def status(self):
        return int(self.first.split(" ")[1])

    def get(self, name):
        for key, value in self.headers:
            if key.lower() == name.lower():
                return value
        return None

    def drop(self, name):
        self.headers = [(k, v) for k, v in self.headers if k.lower() != name.lower()]

    def set(self, name, value):
        self.drop(name)
        self.headers.append((name, value))

    @property
    def chunked(self):
        return (self.get("Transfer-Encoding") or "").lower().endswith("chunked")

    @property
    def last(self):
        """No other message follows on this connection."""
        return (self.get("Connection") or "").lower() == "close"

    def __bytes__(self):
        lines = [self.first] + ["%s: %s" % pair for pair in self.headers]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class Wire:
    """One end of a connection. What is read is counted by on_read(n), what is written by on_write."""

    def __init__(self, reader, writer, on_read=None, on_write=None):
        self.reader = reader
        self.writer = writer
        self.on_read = on_read or (lambda n: None)
        self.on_write = on_write or (lambda n: None)
        self.buffer = b""
        # drain() then waits until the kernel has it all: a reset after it takes nothing back
        writer.transport.set_write_buffer_limits(0)

    # ---- in ----

    async def fill(self):
        data = await self.reader.read(PIECE)
        self.on_read(len(data))
        self.buffer += data
        return bool(data)

    async def until(self, end):
        """What comes before end, which is taken off too; None if nothing at all comes."""
        while (at := self.buffer.find(end)) < 0:
            if len(self.buffer) > MAX_HEAD:
                raise WireError("a head without an end")
            if not await self.fill():
                if self.buffer:
                    raise WireError("cut in the middle of a head")
                return None
        piece, self.buffer = self.buffer[:at], self.buffer[at + len(end):]
        return piece

    async def read_head(self):
        raw = await self.until(b"\r\n\r\n")
        return None if raw is None else Head.parse(raw)

    async def line(self):
        piece = await self.until(b"\r\n")
        if piece is None:
            raise WireError("cut in the middle of a body")
        return piece

    async def exactly(self, n):
        """n bytes, in the pieces in which they come."""
        while n:
            if not self.buffer and not await self.fill():
                raise WireError("cut in the middle of a body")
            piece, self.buffer = self.buffer[:n], self.buffer[n:]
            n -= len(piece)
            yield piece

    async def pieces(self, head, to_end=False):
        """The payload of the body that follows head. to_end: one without a length ends with the
        connection."""
        if head.chunked:
            while size := int((await self.line()).split(b";")[0], 16):
                async for piece in self.exactly(size):
                    yield piece
                await self.line()
            while await self.line():
                pass                    # trailers are dropped: nothing of E2B's uses them
        elif head.get("Content-Length") is not None:
            async for piece in self.exactly(int(head.get("Content-Length"))):
                yield piece
        elif to_end:
            while self.buffer or await self.fill():
                piece, self.buffer = self.buffer, b""
                yield piece

    async def gone(self):
        """Returns when the other side has left; what it still sends is kept."""
        with contextlib.suppress(ConnectionError):
            while await self.fill():
                if len(self.buffer) > MAX_HEAD:
                    await asyncio.Event().wait()

    # ---- out ----

    async def send(self, data, trickle=False):
        step = 1 if trickle else max(len(data), 1)
        for at in range(0, len(data), step):
            piece = data[at:at + step]
            self.writer.write(piece)
            self.on_write(len(piece))
            await self.writer.drain()
            if trickle:
                await asyncio.sleep(0)          # the others have their turn

    def close(self):
        self.writer.close()

    def reset(self):
        """RST instead of FIN."""
        with contextlib.suppress(OSError):
            self.writer.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


class Lane:
    """One direction of one connection: what is put in happens in order, a delay later."""

    def __init__(self, delay, not_before=0.0):
        self.loop = asyncio.get_running_loop()
        self.delay = delay              # seconds
        self.not_before = not_before
        self.queue = asyncio.Queue(64)
        self.error = None
        self.task = self.loop.create_task(self.run())

    async def put(self, action):
        """action: a function without arguments that is awaited when its time has come."""
        if self.error:
            raise self.error
        await self.queue.put((max(self.loop.time(), self.not_before) + self.delay, action))

    async def flush(self):
        """Returns when all that was put in has happened, and a delay has passed."""
        done = self.loop.create_future()

        async def mark():
            done.set_result(None)

        await self.put(mark)
        await asyncio.wait([done, self.task], return_when=asyncio.FIRST_COMPLETED)
        if self.error:
            raise self.error

    async def run(self):
        try:
            while True:
                due, action = await self.queue.get()
                wait = due - self.loop.time()
                if wait > 0:
                    await asyncio.sleep(wait)
                await action()
        except Exception as error:      # whoever puts next gets it
            self.error = error
            while True:                 # nobody may wait for room in here for ever
                if self.queue.empty():
                    return
                self.queue.get_nowait()

    def drop(self):
        self.task.cancel()
