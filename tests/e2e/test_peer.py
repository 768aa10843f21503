"""The scripted peer itself: that it does what a script says, counts what came, and tells what did
not come (tests/peer/README.md)."""
import contextlib
import http.client
import socket
import struct
import subprocess
import sys
import threading
import time

import pytest
from local_server import until
from scripted_peer import DEADLINE, PROGRAM, scripts

HELLO = "expect GET /hello\n  do answer 200 text/plain hello"


def frame(data, flags=0):
    return struct.pack(">BI", flags, len(data)) + data


class Client:
    """One connection to a peer."""

    def __init__(self, peer):
        self.socket = socket.create_connection((peer.host, peer.port), timeout=DEADLINE)

    def send(self, method, path, body=b"", headers=()):
        lines = ["%s %s HTTP/1.1" % (method, path), "Host: localhost", *headers]
        if body:
            lines.append("Content-Length: %d" % len(body))
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode() + body)

    def receive(self):
        """The answer: http.client's object with status and headers, and its body."""
        answer = http.client.HTTPResponse(self.socket)
        answer.begin()
        return answer, answer.read()

    def ask(self, method, path, body=b"", headers=()):
        self.send(method, path, body, headers)
        return self.receive()

    def rest(self):
        """All bytes until the connection ends, and whether it was reset."""
        data = b""
        try:
            while piece := self.socket.recv(65536):
                data += piece
        except ConnectionResetError:
            return data, True
        return data, False

    def until(self, end):
        data = b""
        while not data.endswith(end):
            piece = self.socket.recv(1)
            assert piece, data
            data += piece
        return data


@pytest.fixture
def connect():
    with contextlib.ExitStack() as stack:
        def start(peer):
            client = Client(peer)
            stack.callback(client.socket.close)
            return client

        yield start


# ---- what a script expects ----


def test_answers_alone(peer, connect):
    it = peer('expect POST /sandboxes\n  do answer 201 application/json {"a": 1}\n  do header X-A: b')
    answer, body = connect(it).ask("POST", "/sandboxes", b"{}")
    assert (answer.status, answer.reason, body) == (201, "Created", b'{"a": 1}')
    assert answer.getheader("content-type") == "application/json" and answer.getheader("x-a") == "b"
    [request] = it.requests()
    assert (request["method"], request["path"], request["body"]) == ("POST", "/sandboxes", "{}")
    assert (request["status"], request["end"]) == (201, "answered")


def test_the_first_expect_that_wants_it(peer, connect):
    it = peer("expect GET /a*\n  do answer 200 text/plain first\n"
              "expect GET /ab\n  do answer 200 text/plain second\n"
              "expect GET *\n  do answer 200 text/plain other\n  always")
    client = connect(it)
    assert [client.ask("GET", path)[1] for path in ("/ab", "/ab", "/ab", "/x?y=z")] == [
        b"first", b"second", b"other", b"other"]
    assert it.count("GET /ab") == 3 and it.count("GET /x") == 1 and it.count("GET /x?y=z") == 1
    assert it.count("GET /x?other") == 0 and it.count("* *") == 4


@pytest.mark.parametrize("script, asked, verdict", [
    (HELLO, 0, "-e:1: expect GET /hello: came 0 times, wanted 1"),
    (HELLO + "\n  times 3", 2, "-e:1: expect GET /hello: came 2 times, wanted 3"),
    (HELLO + "\n  times 0", 1, "-e:1: expect GET /hello: came 1 times, wanted 0"),
    (HELLO + "\n  times 0", 0, "ok"),
    (HELLO + "\n  times 2", 2, "ok"),
    (HELLO + "\n  always", 0, "-e:1: expect GET /hello: came 0 times, wanted any number, at least 1"),
    (HELLO + "\n  always", 2, "ok"),
])
def test_what_came_too_often_or_not_at_all(peer, connect, script, asked, verdict):
    it = peer(script)
    client = connect(it)
    for _ in range(asked):
        assert client.ask("GET", "/hello")[1] == b"hello"
    assert it.end() == verdict


def test_what_nobody_expects_is_501(peer, connect):
    answer, body = connect(peer("")).ask("GET", "/other")
    assert answer.status == 501 and b"expects no such request" in body


def test_a_place_that_the_answer_does_not_reach_is_told(peer, connect):
    it = peer(HELLO + "\n  do cut-after 6")
    assert connect(it).ask("GET", "/hello")[1] == b"hello"
    assert "ended at 5 bytes, before that place" in it.end()


@pytest.mark.parametrize("script, error", [
    ("sleep 1", "-e:1: no such statement: sleep"),
    ("\nexpect GET", "-e:2: expect GET"),
    ("do reset", "-e:1: do comes after an expect"),
    ("expect GET /\ndo explode", "-e:2: no such fault: explode"),
    ("expect GET /\ndo stall-until open", "-e:2: no such barrier: 'open'"),
    ("expect GET /\ndo cut-after x", "-e:2: do cut-after x"),
    ("expect GET /\ndo cut-after", "-e:2: do cut-after"),
    ("expect GET /\ndo cut-after 1 gently", "only the word reset may follow"),
    ("when GET / open x", "-e:1: when"),
    ("include nothing-of-that-name", "-e:1: include nothing-of-that-name"),
])
def test_scripts_that_make_no_sense(script, error):
    ran = subprocess.run([sys.executable, "-B", PROGRAM, "-e", script], capture_output=True, text=True,
                         stdin=subprocess.DEVNULL, timeout=DEADLINE)
    assert (ran.returncode, ran.stdout) == (2, "") and error in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("name", scripts("*"))
def test_named_scripts_make_sense(peer, name):
    assert peer("include " + name).end() is not None


def test_the_end_of_its_input_ends_it(peer):
    it = peer("")
    it.process.stdin.close()
    assert it.read() == "ok" and it.process.wait(DEADLINE) == 0
    it.verdict = "ok"


def test_words_that_it_does_not_know(peer):
    it = peer("barrier open")
    for line in ("dance", "count nothing", "release other", "await other", "script nonsense"):
        with pytest.raises(AssertionError, match="error: "):
            it.ask(line)
    it.release("open")


# ---- in between ----


def test_passes_on_what_it_does_not_spoil(peer, connect):
    upstream = peer('expect POST /a*\n  do answer 200 text/plain 0123456789\n  do header X-A: b\n  times 3')
    it = peer("", upstream)
    client = connect(it)
    answer, body = client.ask("POST", "/a?b=c", b"\0\xff", ["X-Key: k"])
    assert (answer.status, body, answer.getheader("X-A")) == (200, b"0123456789", "b")
    client.send("POST", "/a", headers=["Transfer-Encoding: chunked"])
    client.socket.sendall(b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n")
    assert client.receive()[1] == b"0123456789"
    client.socket.sendall(b"POST /a HTTP/1.1\r\nContent-Len")
    client.socket.sendall(b"gth: 2\r\n\r\nh")
    client.socket.sendall(b"i")
    assert client.receive()[1] == b"0123456789"
    first, second, third = upstream.requests()
    assert first["path"] == "/a?b=c" and first["headers"]["x-key"] == "k"
    assert first["body"] == "\0\\xff" and second["body"] == "abcde" and third["body"] == "hi"
    assert upstream.count("connections") == it.count("connections") == 1
    assert upstream.counts()["bytes_down"] == it.counts()["bytes_down"] > 0


def test_an_upstream_that_leaves(peer, connect):
    """What befalls the upstream befalls the client."""
    it = peer("", peer("expect GET /\n  do cut-head-after 10"))
    client = connect(it)
    client.send("GET", "/")
    assert client.rest() == (b"", True)
    it.server.end()                             # and is not there any more
    client = connect(it)
    client.send("GET", "/")
    assert client.rest() == (b"", True)
    assert [r["end"] for r in it.requests()] == ["cut", "cut"]


def test_replaced_parts_of_an_answer(peer, connect):
    upstream = peer("expect POST /a\n  do answer 201 text/plain made\n  do header X-A: b\n  always")
    it = peer('expect POST /a\n  do replace-body "[\\u00e9]"\n'
              "expect POST /a\n  do replace-status 504\n  do replace-body <html>\n"
              "expect POST /a\n  do header X-A: c\n", upstream)
    client = connect(it)
    answers = [client.ask("POST", "/a") for _ in range(3)]
    assert [(a.status, body, a.getheader("X-A")) for a, body in answers] == [
        (201, "[é]".encode(), "b"), (504, b"<html>", "b"), (201, b"made", "c")]
    assert upstream.count("POST /a") == 3


def test_lost_answers(peer, connect):
    """lose-before-head: it was done all the same. reset, close: it was not."""
    upstream = peer("expect POST /lose\n  do answer 200")
    it = peer("expect POST /lose\n  do lose-before-head\n"
              "expect POST /reset\n  do reset\nexpect POST /close\n  do close", upstream)
    for path, reset in (("/lose", True), ("/reset", True), ("/close", False)):
        client = connect(it)
        client.send("POST", path, b"body")
        assert client.rest() == (b"", reset)
    assert upstream.count("requests") == 1
    assert [(r["status"], r["end"]) for r in it.requests()] == 3 * [(0, "cut")]


# ---- at any byte ----


@pytest.mark.parametrize("fault, body, reset", [
    ("cut-after 0", b"", False),
    ("cut-after 3", b"hel", False),
    ("cut-after 3 reset", b"hel", True),
])
def test_cut(peer, connect, fault, body, reset):
    client = connect(peer(HELLO + "\n  do " + fault))
    client.send("GET", "/hello")
    data, was_reset = client.rest()
    assert data.endswith(b"\r\nContent-Length: 5\r\n\r\n" + body) and was_reset == reset


def test_cut_inside_the_head(peer, connect):
    client = connect(peer(HELLO + "\n  do cut-head-after 12"))
    client.send("GET", "/hello")
    assert client.rest() == (b"HTTP/1.1 200", False)


def test_no_http_at_all(peer, connect):
    client = connect(peer('expect GET /\n  do raw "\\u0000SSH-2.0\\r\\n"'))
    client.send("GET", "/")
    assert client.rest() == (b"\0SSH-2.0\r\n", False)


FRAMES = ("expect POST /stream\n  do answer 200 application/connect+json\n"
          '  do frame {"a":1}\n  do frame "{\\"b\\":2}"\n  do frame 2 {}\n')
ALL = frame(b'{"a":1}') + frame(b'{"b":2}') + frame(b"{}", 2)


@pytest.mark.parametrize("k, n", [(1, 0), (1, 3), (2, 0), (2, 4), (2, 6), (3, 6)])
def test_cut_inside_a_frame(peer, connect, k, n):
    """Wherever the pieces end in which the upstream sends them."""
    starts = {1: 0, 2: 12, 3: 24}
    for chain in (peer(FRAMES + "do cut-in-frame %d %d" % (k, n)),
                  peer("expect POST /stream\n do cut-in-frame %d %d" % (k, n),
                       peer(FRAMES + "do trickle"))):
        client = connect(chain)
        client.send("POST", "/stream", b"x")
        data, _ = client.rest()
        assert data.partition(b"\r\n\r\n")[2] == ALL[:starts[k] + n]


def test_stalls_in_the_middle(peer, connect):
    it = peer("barrier one\nbarrier two\n" + FRAMES +
              "do stall-after 5 one\ndo stall-in-frame 2 1 two")
    client = connect(it)
    client.send("POST", "/stream", b"x")
    it.reached("one")
    data = client.until(b"\r\n\r\n" + ALL[:5])
    it.release("one")
    it.reached("two")
    data += client.until(ALL[5:13])
    it.release("two")
    data += client.until(ALL[13:])
    assert data.partition(b"\r\n\r\n")[2] == ALL


class Chunked:
    """A server whose answer is in two chunks, to be passed as upstream."""

    host = "127.0.0.1"

    def __init__(self, stack):
        self.listening = stack.enter_context(socket.create_server((self.host, 0)))
        self.port = self.listening.getsockname()[1]

    def serve(self):
        line, _ = self.listening.accept()
        with line:
            while line.recv(65536):
                line.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
                line.sendall(b"2\r\nde\r\n0\r\n\r\n")


@pytest.fixture
def chunked():
    with contextlib.ExitStack() as stack:
        server = Chunked(stack)
        thread = threading.Thread(target=server.serve, daemon=True)
        thread.start()
        yield server
    thread.join(DEADLINE)
    assert not thread.is_alive()


def test_split_and_joined(peer, connect, chunked):
    it = peer("expect GET /split\n  do trickle\nexpect GET /joined\n  do coalesce", chunked)
    client = connect(it)
    client.send("GET", "/split")
    data = client.until(b"0\r\n\r\n")
    assert data.endswith(b"1\r\na\r\n1\r\nb\r\n1\r\nc\r\n1\r\nd\r\n1\r\ne\r\n0\r\n\r\n")
    client.send("GET", "/joined")
    data = client.socket.recv(65536)            # one write of the peer's
    assert data.startswith(b"HTTP/1.1 200 OK\r\n") and data.endswith(b"2\r\nde\r\n0\r\n\r\n")
    assert it.end() == "ok"                     # and with it the connection to the server


def test_joined_up_to_a_cut(peer, connect):
    it = peer("barrier open\n" + HELLO + "\n  do coalesce\n  do stall-after 2 open\n  do cut-after 3")
    client = connect(it)
    client.send("GET", "/hello")
    it.reached("open")
    assert client.socket.recv(65536).endswith(b"\r\n\r\nhe")
    it.release("open")
    assert client.rest() == (b"l", False)


# ---- late ----


def test_held_before_and_after_the_server(peer, connect):
    upstream = peer(HELLO + "\n  times 2")
    it = peer("barrier asked\nbarrier told\n"
              "expect GET /hello\n  do stall-until asked\n"
              "expect GET /hello\n  do delay-answer-until told", upstream)
    one, other = connect(it), connect(it)
    one.send("GET", "/hello")
    it.reached("asked")
    assert upstream.count("requests") == 0
    other.send("GET", "/hello")
    it.reached("told")
    assert upstream.count("requests") == 1
    it.release("told")
    assert other.receive()[1] == b"hello"
    assert upstream.count("requests") == 1
    it.release("asked")
    assert one.receive()[1] == b"hello"


def test_never(peer, connect):
    """A barrier that nobody opens; the client leaves."""
    it = peer("barrier never\nbarrier next\n" + HELLO + "\n  do delay-answer-until never\n"
              "when GET /next release next\nexpect GET /next\n  do answer 200")
    client = connect(it)
    client.send("GET", "/hello")
    it.reached("never")
    client.socket.close()
    until(lambda: it.requests()[0]["end"] == "gone")
    assert connect(it).ask("GET", "/next")[0].status == 200


def test_answers_change_places(peer, connect):
    it = peer("barrier second\nwhen answered GET /2 release second\n"
              "expect GET /1\n  do answer 200 text/plain one\n  do delay-answer-until second\n"
              "expect GET /2\n  do answer 200 text/plain two")
    one, other = connect(it), connect(it)
    one.send("GET", "/1")
    assert other.ask("GET", "/2")[1] == b"two"
    assert one.receive()[1] == b"one"


def test_more_script_on_the_way(peer, connect):
    it = peer(HELLO)
    client = connect(it)
    assert client.ask("GET", "/hello")[1] == b"hello"
    it.script("expect GET /hello\n  do answer 404")
    assert client.ask("GET", "/hello")[0].status == 404


# ---- counts ----


def test_counts(peer, connect):
    it = peer("expect * *\n  do answer 200 text/plain 0123456789\n  always")
    one, other = connect(it), connect(it)
    one.ask("GET", "/a")
    other.ask("POST", "/b?c", 1000 * b"x")
    one.ask("GET", "/a")
    counts = it.counts()
    assert (counts["connections"], counts["requests"], counts["turns"]) == (2, 3, 3)
    assert counts["routes"] == {"GET /a": 2, "POST /b": 1}
    assert counts["bytes_up"] == it.count("bytes_up") > 1000 and counts["bytes_down"] > 30
    assert [r["connection"] for r in it.requests()] == [1, 2, 1]


def test_requests_that_are_in_flight_together_are_one_turn(peer, connect):
    it = peer("barrier open\nexpect GET /held\n  do answer 200\n  do delay-answer-until open\n"
              "  times 2\nexpect GET /next\n  do answer 200\n  times 2")
    one, other = connect(it), connect(it)
    one.send("GET", "/held")
    it.reached("open")
    other.send("GET", "/held")
    until(lambda: it.count("requests") == 2)
    it.release("open")
    one.receive()
    other.receive()
    one.ask("GET", "/next")
    one.ask("GET", "/next")
    assert [r["turn"] for r in it.requests()] == [1, 1, 2, 3]
    assert it.count("turns") == 3


def test_a_stream_that_goes_on_costs_its_head(peer, connect):
    """Who acts on the first bytes of an answer has waited for one turn."""
    it = peer("barrier open\nexpect GET /stream\n  do answer 200 text/plain begun\n"
              "  do stall-after 3 open\nexpect GET /next\n  do answer 200")
    one, other = connect(it), connect(it)
    one.send("GET", "/stream")
    one.until(b"beg")
    other.ask("GET", "/next")
    it.release("open")
    one.until(b"un")
    assert [r["turn"] for r in it.requests()] == [1, 2]


def test_a_lost_answer_is_a_turn(peer, connect):
    it = peer("expect GET /lost\n  do reset\nexpect GET /next\n  do answer 200")
    client = connect(it)
    client.send("GET", "/lost")
    client.rest()
    connect(it).ask("GET", "/next")
    assert [r["turn"] for r in it.requests()] == [1, 2]


def test_a_round_trip_takes_its_time(peer, connect):
    """Never less than was asked for: one for the connection, one for each request."""
    it = peer("rtt 60\n" + HELLO + "\n  times 2")
    began = time.monotonic()
    client = connect(it)
    client.ask("GET", "/hello")
    assert time.monotonic() - began >= 0.12
    began = time.monotonic()
    client.ask("GET", "/hello")
    assert time.monotonic() - began >= 0.06
