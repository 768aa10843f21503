"""bench/delayproxy.py: the delay that it adds, the counts that it gives, and its memory."""
import base64
import contextlib
import importlib.util
import json
import pathlib
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import pytest

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "bench" / "delayproxy.py"
DEADLINE = 60                           # seconds after which a test that waits has failed

spec = importlib.util.spec_from_file_location("delayproxy", PROGRAM)
delayproxy = importlib.util.module_from_spec(spec)
spec.loader.exec_module(delayproxy)


# ---- a lane, on a clock of the test's own -------------------------------------------------------


class Clock:
    """The part of an event loop that a lane uses; time passes when the test says so."""

    def __init__(self):
        self.now = 100.0
        self.timers = []

    def time(self):
        return self.now

    def call_at(self, when, function):
        timer = Timer(when, function)
        self.timers.append(timer)
        return timer

    def run_until(self, when):
        while True:
            due = [t for t in self.timers if not t.cancelled and t.when <= when]
            if not due:
                break
            timer = min(due, key=lambda t: t.when)
            self.timers.remove(timer)
            self.now = max(self.now, timer.when)
            timer.function()
        self.now = when


class Timer:
    def __init__(self, when, function):
        self.when = when
        self.function = function
        self.cancelled = False

    def cancel(self):
        self.cancelled = True


@pytest.fixture
def clock():
    return Clock()


def make_lane(clock, delay):
    """Returns a lane, what it delivered as (time, data), and what it told its sender."""
    delivered, reading = [], []
    lane = delayproxy.Lane(clock, delay, lambda data: delivered.append((clock.now, data)),
                           reading.append)
    lane.unblock()
    return lane, delivered, reading


def test_each_piece_leaves_one_delay_after_it_came(clock):
    lane, delivered, _ = make_lane(clock, 0.25)
    lane.put(b"a")
    clock.run_until(100.125)
    lane.put(b"b")
    assert delivered == []
    clock.run_until(101)
    assert delivered == [(100.25, b"a"), (100.375, b"b")]


def test_no_delay_is_no_timer(clock):
    lane, delivered, _ = make_lane(clock, 0.0)
    lane.put(b"a")
    assert delivered == [(100.0, b"a")]
    assert clock.timers == []


def test_not_before_holds_back_and_order_is_kept(clock):
    lane, delivered, _ = make_lane(clock, 0.25)
    lane.put(b"a", not_before=102.0)
    lane.put(b"b")
    lane.put(delayproxy.EOF)
    clock.run_until(103)
    assert delivered == [(102.25, b"a"), (102.25, b"b"), (102.25, delayproxy.EOF)]


def test_a_blocked_receiver_stops_the_sender_at_the_bound_and_starts_it_again(clock):
    lane, delivered, reading = make_lane(clock, 0.0)
    lane.block()
    piece = bytes(1 << 20)
    while not reading:
        lane.put(piece)
    assert reading == [False]
    assert delivered == []
    assert delayproxy.MAX_QUEUED < lane.size <= delayproxy.MAX_QUEUED + len(piece)
    sent = lane.size
    lane.unblock()
    assert reading == [False, True]
    assert sum(len(data) for _, data in delivered) == sent


# ---- requests in a byte stream ------------------------------------------------------------------


def requests_in(*pieces, capture=None):
    seen, captured = [], []
    requests = delayproxy.Requests(lambda method, target: seen.append((method, target)), capture,
                                   lambda head, body: captured.append((head, body)))
    for piece in pieces:
        requests.feed(piece)
    return seen, captured


STREAM = (b"POST /a?b=c HTTP/1.1\r\nContent-Length: 5\r\n\r\nGET /"
          b"GET /second HTTP/1.1\r\nHost: x\r\n\r\n"
          b"PUT /third HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
          b"4;x=y\r\nGET \r\n10\r\n0123456789abcdef\r\n0\r\nTrailer: x\r\n\r\n"
          b"DELETE /fourth HTTP/1.1\r\n\r\n")
SEEN = [("POST", "/a"), ("GET", "/second"), ("PUT", "/third"), ("DELETE", "/fourth")]


def test_requests_are_found_whatever_the_pieces():
    for size in (1, 2, 3, 7, 50, len(STREAM)):
        pieces = [STREAM[i:i + size] for i in range(0, len(STREAM), size)]
        assert requests_in(*pieces)[0] == SEEN, size


def test_a_request_is_captured_with_its_body_without_chunk_sizes():
    for size in (1, 9, len(STREAM)):
        pieces = [STREAM[i:i + size] for i in range(0, len(STREAM), size)]
        _, captured = requests_in(*pieces, capture="/third")
        assert captured == [("PUT /third HTTP/1.1\r\nTransfer-Encoding: chunked",
                             b"GET 0123456789abcdef")]


@pytest.mark.parametrize("stream", [
    b"\x16\x03\x01\x02\x00\x01" + STREAM,
    b"GET /\r\n\r\n" + STREAM,
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + STREAM,
    b"X" * (delayproxy.MAX_HEAD + 1) + STREAM,
    b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + STREAM,
])
def test_what_is_not_http_is_not_counted(stream):
    seen, _ = requests_in(stream)
    assert seen in ([], [("POST", "/x")])


# ---- the program --------------------------------------------------------------------------------


class Server:
    """Answers on loopback; serve(connection, address) has a thread for each connection."""

    def __init__(self, serve):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.serve = serve
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.run, args=(connection,), daemon=True).start()

    def run(self, connection):
        with connection, contextlib.suppress(OSError):
            self.serve(connection)


@contextlib.contextmanager
def server(serve):
    it = Server(serve)
    try:
        yield it
    finally:
        it.listener.close()


class Proxy:
    def __init__(self, process):
        self.process = process
        ready = json.loads(process.stdout.readline())
        self.port = ready["ports"]["it"]
        self.admin = ready["admin"]

    def ask(self, path):
        url = "http://127.0.0.1:%d%s" % (self.admin, path)
        with urllib.request.urlopen(url, timeout=DEADLINE) as response:
            return json.load(response)

    def counters(self, path="/stats"):
        return self.ask(path)["maps"]["it"]

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), DEADLINE)


@contextlib.contextmanager
def proxy(target, *arguments):
    process = subprocess.Popen([sys.executable, PROGRAM, "--map", "0=%d,it" % target, *arguments],
                               stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    try:
        yield Proxy(process)
    finally:
        process.terminate()
        process.stdout.close()
        assert process.wait(DEADLINE) == 0


def read_exactly(connection, size):
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        assert piece, "closed after %d of %d bytes" % (len(data), size)
        data += piece
    return data


def echo(connection):
    while data := connection.recv(65536):
        connection.sendall(data)


def turn(connection, data=b"ping"):
    connection.sendall(data)
    assert read_exactly(connection, len(data)) == data


def test_a_turn_costs_one_round_trip_and_a_connection_one_more():
    rtt = 0.2
    with server(echo) as target, proxy(target.port, "--rtt", "200") as it:
        start = time.monotonic()
        with it.connect() as connection:
            turn(connection)
            first = time.monotonic()
            for _ in range(4):
                turn(connection)
            end = time.monotonic()
        # It never is faster, and it is nearer to one round trip a turn than to two.
        assert 2 * rtt - 0.001 <= first - start < 4 * rtt
        assert 4 * rtt - 0.001 <= end - first < 8 * rtt
        assert it.counters()["turns"] == 5


def test_the_round_trip_can_be_changed_for_new_connections():
    with server(echo) as target, proxy(target.port, "--rtt", "300") as it:
        assert it.ask("/rtt/0")["rtt_ms"] == 0
        start = time.monotonic()
        with it.connect() as connection:
            turn(connection)
            turn(connection)
        assert time.monotonic() - start < 0.9       # 300 ms would make it three round trips


def answer_requests(connection):
    """A minimal HTTP server: "ok" for each request; bodies have a Content-Length."""
    data = b""
    while piece := connection.recv(65536):
        data += piece
        while b"\r\n\r\n" in data:
            head, _, rest = data.partition(b"\r\n\r\n")
            length = 0
            for line in head.split(b"\r\n")[1:]:
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            while len(rest) < length:
                rest += connection.recv(65536)
            data = rest[length:]
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


ANSWER = len(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


def test_counts_of_connections_requests_turns_and_bytes():
    get = b"GET /a?q HTTP/1.1\r\n\r\n"
    post = b"POST /b HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"
    with server(answer_requests) as target, proxy(target.port, "--capture", "/b") as it:
        assert it.ask("/captured") is None
        with it.connect() as one, it.connect() as two:
            for connection, request in ((one, get), (two, post), (one, get), (one, get)):
                connection.sendall(request)
                read_exactly(connection, ANSWER)
            two.sendall(get + get)                  # two requests, one turn
            read_exactly(two, 2 * ANSWER)
            counters = it.counters("/reset")
            assert counters == {
                "connections": 2, "open": 2, "max_open": 2, "requests": 6, "turns": 5,
                "bytes_up": 5 * len(get) + len(post), "bytes_down": 6 * ANSWER,
                "targets": {"GET /a": 5, "POST /b": 1}}
            captured = it.ask("/captured")
            assert captured["head"].startswith("POST /b HTTP/1.1\r\n")
            assert base64.b64decode(captured["body"]) == b"abc"
            after = it.counters()
            assert (after["connections"], after["open"], after["requests"]) == (0, 2, 0)


def test_a_half_closed_connection_still_gets_its_answer():
    def after_the_end(connection):
        size = 0
        while data := connection.recv(65536):
            size += len(data)
        connection.sendall(b"%d bytes" % size)

    with server(after_the_end) as target, proxy(target.port, "--rtt", "20") as it:
        with it.connect() as connection:
            connection.sendall(b"x" * 1000)
            connection.shutdown(socket.SHUT_WR)
            assert read_exactly(connection, 10) == b"1000 bytes"
            assert connection.recv(1) == b""


def test_a_dead_server_closes_the_connection():
    closed = socket.create_server(("127.0.0.1", 0))
    port = closed.getsockname()[1]
    closed.close()
    with proxy(port) as it, it.connect() as connection:
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(1) == b""


def peak_kib(pid):
    for line in pathlib.Path("/proc/%d/status" % pid).read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    raise AssertionError("no VmHWM")


@pytest.mark.parametrize("rtt", ["0", "20"])
def test_a_gibibyte_streams_in_bounded_memory(rtt):
    size = 1 << 30
    piece = bytes(1 << 20)

    def pour(connection):
        connection.recv(1)
        for _ in range(size // len(piece)):
            connection.sendall(piece)

    with server(pour) as target, proxy(target.port, "--rtt", rtt) as it:
        before = peak_kib(it.process.pid)
        buffer = bytearray(1 << 20)
        with it.connect() as connection:
            connection.sendall(b"x")
            got = 0
            while n := connection.recv_into(buffer):
                got += n
        assert got == size
        assert it.counters()["bytes_down"] == size
        # One full lane, and as much again for the allocator.
        assert peak_kib(it.process.pid) - before < 2 * delayproxy.MAX_QUEUED / 1024


def test_a_reader_that_stops_stops_the_sender():
    """Without it the proxy would take in all that the server has."""
    sent = []

    def pour(connection):
        connection.recv(1)
        connection.settimeout(1)
        with contextlib.suppress(TimeoutError):
            while True:
                sent.append(connection.send(bytes(1 << 16)))
        stopped.set()

    stopped = threading.Event()
    with server(pour) as target, proxy(target.port) as it, it.connect() as connection:
        connection.sendall(b"x")
        assert stopped.wait(DEADLINE)
        assert it.counters()["bytes_down"] <= 2 * delayproxy.MAX_QUEUED
        assert sum(sent) < 64 << 20                 # a lane and the kernel's own buffers
