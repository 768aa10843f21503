"""One connection of a client, the connection to the upstream behind it, and what goes over them."""
import asyncio
import sys

from exchange import Cut, Exchange
from wire import Lane, Wire, WireError


class Link:
    def __init__(self, peer, reader, writer):
        self.peer = peer
        counts = peer.counts
        counts.connections += 1
        self.number = counts.connections
        self.client = Wire(reader, writer, self.count_up, self.count_down)
        self.upstream = None
        loop = asyncio.get_running_loop()
        rtt = peer.script.rtt
        # The kernel has completed the handshake already: it is charged to the first request.
        self.up = Lane(rtt / 2, loop.time() + rtt)
        self.down = Lane(rtt / 2)

    def count_up(self, n):
        self.peer.counts.bytes_up += n

    def count_down(self, n):
        self.peer.counts.bytes_down += n

    async def open_upstream(self):
        if self.upstream and self.upstream.reader.at_eof():
            self.upstream.close()
            self.upstream = None
        if not self.upstream:
            self.upstream = Wire(*await asyncio.open_connection(*self.peer.upstream))
        return self.upstream

    async def run(self):
        """Serves requests until one side has enough; never raises."""
        try:
            while await self.next_request():
                pass
            await self.down.flush()
            self.client.close()
        except OSError:
            self.client.reset()
        except (WireError, ValueError) as error:
            print("peer: %s" % error, file=sys.stderr, flush=True)
            self.client.reset()
        except asyncio.CancelledError:
            self.client.reset()         # the peer ends
        finally:
            self.up.drop()
            self.down.drop()
            if self.upstream:
                self.upstream.close()

    async def next_request(self):
        head = await self.client.read_head()
        if head is None:
            return False
        request = self.peer.counts.arrived(
            head, self.number, self.peer.script.is_beside(head.method, head.target))
        self.peer.arrived(request)
        exchange = Exchange(self, head, request,
                            self.peer.script.rule_for(head.method, head.target))
        running = asyncio.create_task(exchange.run())
        watching = asyncio.create_task(self.watch(exchange))
        try:
            return await self.outcome(request, running, watching)
        except OSError:
            request.end = "gone"
            raise
        finally:
            await stop(running, watching)

    async def outcome(self, request, running, watching):
        try:
            await asyncio.wait([running, watching], return_when=asyncio.FIRST_COMPLETED)
            if not running.done():
                raise ConnectionResetError      # the client has left
            return running.result()
        except Cut as cut:
            await self.cut(request, cut)
            return False

    async def watch(self, exchange):
        await exchange.body_read.wait()
        await self.client.gone()

    async def cut(self, request, cut):
        """Ends the connection after what was sent on it, which counts as an answer heard."""

        async def end():
            request.heard(request.status)
            request.end = "cut"
            if cut.reset:
                self.client.reset()

        await self.down.put(end)


async def stop(*tasks):
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
