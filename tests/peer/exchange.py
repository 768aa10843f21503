"""One request and its answer, with what the script does to them."""
import asyncio
import http

from script import Rule
from wire import Head, WireError

# The rule of a request that no expect matched.
PLAIN = Rule(None, None)


class Cut(Exception):
    """The connection to the client ends here."""

    def __init__(self, reset):
        super().__init__()
        self.reset = reset


def reason(status):
    try:
        return http.HTTPStatus(status).phrase
    except ValueError:
        return "Scripted"


def bodiless(method, status):
    return method == "HEAD" or status in (204, 304)


class Exchange:
    def __init__(self, link, head, request, rule):
        self.link = link
        self.peer = link.peer
        self.head = head
        self.request = request
        self.rule = rule or PLAIN
        self.body_read = asyncio.Event()        # from then on the client may be watched for leaving
        self.last = head.last                   # the connection ends with this answer
        self.sent = 0                           # payload of the answer that was put on its way
        self.held = b""                         # of a coalesced answer, not yet on its way
        self.marks = [(mark, mark.make_position()) for mark in self.rule.marks]

    async def run(self):
        """Returns whether the connection goes on."""
        rule = self.rule
        alone = (rule.answer is not None or rule.lose in ("close", "reset")
                 or self.peer.upstream is None)
        body = self.request_body()
        if alone or rule.stall:
            body = replay([piece async for piece in body])
        if rule.stall:
            await self.peer.barrier(rule.stall).wait()
        if not alone:
            return await self.relay(body)
        await self.link.up.flush()
        status, kind, text = rule.answer or (
            501, "text/plain", b"the scripted peer expects no such request here\n")
        await self.deliver(*self.made(status, kind, text))
        return not self.last

    async def request_body(self):
        async for piece in self.link.client.pieces(self.head):
            self.request.more_body(piece)
            yield piece
        self.body_read.set()

    @staticmethod
    def made(status, kind, text):
        headers = [("Content-Type", kind)] if kind else []
        if status != 204:
            headers.append(("Content-Length", str(len(text))))
        return Head("HTTP/1.1 %d %s" % (status, reason(status)), headers), replay([text])

    # ---- through the upstream ----

    async def relay(self, body):
        try:
            upstream = await self.link.open_upstream()
        except OSError:
            raise Cut(True) from None
        sending = asyncio.create_task(self.send_up(upstream, body))
        try:
            head = await upstream.read_head()
            while head and head.status < 200:
                await self.send(bytes(head))
                head = await upstream.read_head()
            if head is None:
                raise WireError("the upstream left without an answer")
            sized = head.chunked or head.get("Content-Length") is not None
            empty = bodiless(self.head.method, head.status)
            self.last = self.last or head.last or not (sized or empty)
            await self.deliver(head, upstream.pieces(head, True) if not empty else replay([]))
            if not sending.done():
                raise Cut(False)        # answered before it was asked in full
            return not self.last
        except (WireError, ConnectionError):
            raise Cut(True) from None   # what befell the upstream befalls the client
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)

    async def send_up(self, upstream, body):
        """Passes the request on; an upstream that takes no more may still answer."""
        await self.link.up.put(lambda: upstream.send(bytes(self.head)))
        async for piece in body:
            data = chunk(piece) if self.head.chunked else piece
            await self.link.up.put(lambda data=data: upstream.send(data))
        if self.head.chunked:
            await self.link.up.put(lambda: upstream.send(b"0\r\n\r\n"))

    # ---- to the client ----

    async def deliver(self, head, pieces):
        rule = self.rule
        if rule.delay_answer:
            await self.peer.barrier(rule.delay_answer).wait()
        if rule.lose:
            raise Cut(rule.lose != "close")
        if rule.raw is not None:
            await self.send(rule.raw)
            await self.send_held()
            raise Cut(False)
        if rule.status is not None:
            head.first = "HTTP/1.1 %d %s" % (rule.status, reason(rule.status))
        if rule.body is not None:
            async for _ in pieces:      # the upstream's connection is used again
                pass
            head.drop("Transfer-Encoding")
            head.set("Content-Length", str(len(rule.body)))
            pieces = replay([rule.body])
        for name, value in rule.headers:
            head.set(name, value)
        await self.send_head(head)
        await self.send_piece(b"", head.chunked)        # a mark may lie before the first byte
        async for piece in pieces:
            await self.send_piece(piece, head.chunked)
        for mark, _ in self.marks:
            self.peer.complain("%s: the answer ended at %d bytes, before that place" %
                               (mark.line, self.sent))
        if head.chunked:
            await self.send(b"0\r\n\r\n")
        await self.send_held()
        await self.link.down.put(self.delivered)

    async def delivered(self):
        self.request.end = "answered"
        self.peer.answered(self.request)

    async def send_head(self, head):
        data = bytes(head)
        if self.rule.cut_head:
            n, reset = self.rule.cut_head
            if n >= len(data):
                self.peer.complain("%s: cut-head-after %d: the head had only %d bytes" %
                                   (self.rule.where, n, len(data)))
            await self.send(data[:n])
            await self.send_held()
            raise Cut(reset)

        async def heard():
            self.request.heard(head.status)

        # before the bytes leave: what the client sends because of them is a turn of its own
        await self.link.down.put(heard)
        await self.send(data)

    async def send_piece(self, piece, chunked):
        """Sends payload up to the next mark, does what it says, and so on."""
        for _, position in self.marks:
            position.see(piece)
        while True:
            due = [(position.at, mark) for mark, position in self.marks
                   if position.at is not None and position.at <= self.sent + len(piece)]
            if not due:
                break
            at, mark = min(due, key=lambda one: one[0])
            n = at - self.sent
            await self.send_payload(piece[:n], chunked)
            piece = piece[n:]
            self.marks = [one for one in self.marks if one[0] is not mark]
            await self.send_held()
            if mark.barrier is None:
                raise Cut(mark.reset)
            await self.link.down.flush()
            await self.peer.barrier(mark.barrier).wait()
        await self.send_payload(piece, chunked)

    async def send_payload(self, data, chunked):
        self.sent += len(data)
        if not data:
            return
        if self.rule.trickle and chunked:
            for at in range(len(data)):
                await self.send(chunk(data[at:at + 1]))
        else:
            await self.send(chunk(data) if chunked else data)

    async def send(self, data):
        if self.rule.coalesce:
            self.held += data
        else:
            await self.put(data)

    async def send_held(self):
        data, self.held = self.held, b""
        if data:
            await self.put(data)

    async def put(self, data):
        trickle = self.rule.trickle
        await self.link.down.put(lambda: self.link.client.send(data, trickle))


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data) if data else b""


async def replay(pieces):
    for piece in pieces:
        if piece:
            yield piece
