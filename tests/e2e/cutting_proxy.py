"""A proxy that cuts requests and answers at any byte, before e2b-local. What the scripted peer cannot:
it hands a part of a request on, or all of it when the client is long gone."""
import socket
import struct
import threading

DEADLINE = 60
PIECE = 65536


class Cut:
    """What becomes of the first request with a mark in its body: cut in the request ("up"), so that
    the server sees `at` bytes, or in the answer ("down"), so that the client does. reset: by RST.
    at None: not at all; the sizes of both are in `up` and `down` afterwards. late: the client is
    cut off, and the request reaches the server, whole, when the test calls release(); `answered` is
    set when it is done. stall: as late, and the client gets its answer then."""

    def __init__(self, way="up", at=None, reset=False, late=False, stall=False):
        self.way, self.at, self.reset, self.late, self.stall = way, at, reset, late, stall
        self.up = self.down = 0
        self.gate = threading.Event()
        self.taken = threading.Event()
        self.answered = threading.Event()

    def release(self):
        self.gate.set()


class CuttingProxy:
    """Cuts are set before the requests come: proxy.cuts[mark] = Cut(...)."""

    def __init__(self, server):
        self.server = server
        self.cuts = {}
        self.lock = threading.Lock()
        self.live = set()
        self.attached = 0               # answers to Connect
        self.asks = threading.Event()   # set: questions for a record pass
        self.asks.set()
        self.question = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.break_all()

    def break_all(self):
        """Resets every connection, as a network that changes does."""
        with self.lock:
            live = list(self.live)
        for one in live:
            drop(one, True)

    def hold_asks(self):
        """Questions for a record wait here until let_asks()."""
        self.question.clear()
        self.asks.clear()

    def asked(self):
        """Returns when one waits."""
        assert self.question.wait(DEADLINE)

    def let_asks(self):
        self.asks.set()

    def serve(self, client):
        upstream = None
        with self.lock:
            self.live.add(client)
        try:
            client.settimeout(DEADLINE)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while request := read_request(client):
                if not upstream:
                    upstream = self.server.connect()
                if not self.exchange(client, upstream, request):
                    break
        except OSError:
            pass
        finally:
            with self.lock:
                self.live.discard(client)
            drop(client, False)
            if upstream:
                drop(upstream, False)

    def take_cut(self, request):
        if b" /process.Process/Start " not in request[:200]:
            return None
        with self.lock:
            for mark, cut in self.cuts.items():
                if not cut.taken.is_set() and mark.encode() in request:
                    cut.taken.set()
                    cut.up = len(request)
                    return cut
        return None

    def exchange(self, client, upstream, request):
        """One request and its answer; False when the connection is of no more use."""
        cut = self.take_cut(request)
        if b"hermes-e2b-ask" in request:
            self.question.set()
            assert self.asks.wait(DEADLINE)
        if cut and cut.stall:
            assert cut.gate.wait(DEADLINE)
        if cut and cut.late:
            drop(client, cut.reset)
            assert cut.gate.wait(DEADLINE)
            upstream.sendall(request)
            for _ in answer_pieces(upstream):
                pass
            cut.answered.set()
            return False
        if cut and cut.way == "up" and cut.at is not None:
            upstream.sendall(request[:cut.at])
            drop(client, cut.reset)
            if cut.at == len(request):
                for _ in answer_pieces(upstream):
                    pass
            cut.answered.set()
            return False
        upstream.sendall(request)
        attached = b" /process.Process/Connect " in request[:200]
        sent = 0
        for piece in answer_pieces(upstream):
            if cut:
                cut.down += len(piece)
            if cut and cut.at is not None and sent + len(piece) >= cut.at:
                client.sendall(piece[:cut.at - sent])
                drop(client, cut.reset)
                return False
            client.sendall(piece)
            sent += len(piece)
            if attached and sent > len(piece):      # the head, and the first of its messages
                attached = False
                self.attached += 1
        return True


def drop(s, reset):
    try:
        if reset:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            s.shutdown(socket.SHUT_RDWR)
        s.close()
    except OSError:
        pass


def read_head(s):
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = s.recv(1)
        if not byte:
            return None
        head += byte
    return head


def length(head):
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.split(b":")[1])
    return 0


def exact(s, n):
    data = b""
    while len(data) < n:
        piece = s.recv(min(PIECE, n - len(data)))
        if not piece:
            raise ConnectionError
        data += piece
    return data


def read_request(s):
    head = read_head(s)
    return head and head + exact(s, length(head))


def answer_pieces(s):
    """An answer's bytes, as they come."""
    head = read_head(s)
    if not head:
        raise ConnectionError
    yield head
    if b"transfer-encoding: chunked" not in head.lower():
        left = length(head)
        while left:
            piece = exact(s, min(left, PIECE))
            left -= len(piece)
            yield piece
        return
    while True:
        line = b""
        while not line.endswith(b"\r\n"):
            line += exact(s, 1)
        size = int(line, 16)
        yield line
        yield exact(s, size + 2)
        if not size:
            return
