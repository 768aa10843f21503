"""The data plane of e2b-local over plain sockets: routing, tokens, streams (wire B, D.1)."""
import base64
import hashlib
import json
import os
import socket
import struct
import threading
import time
import urllib.parse
from pathlib import Path

import pytest
from local_server import CUT, DEADLINE, until

NEVER = "i00000000000000000000"


# ---- routing (B.1, B.4) --------------------------------------------------------------------------


def test_by_headers(server, sandbox):
    for host in ("localhost", "localhost:%d" % server.port, "127.0.0.1", "[::1]:1", "sandbox.e2b.test"):
        assert sandbox.request("GET", "/health", headers={"Host": host})[0] == 204


def test_by_host_label(server, sandbox):
    for label in ("49983-%s", "49983-%s-6532622b"):
        host = label % sandbox.id + ".localhost:%d" % server.port
        assert server.request("GET", "/health", headers={"Host": host})[0] == 204


@pytest.mark.parametrize("headers, text", [
    ({"E2b-Sandbox-Id": NEVER}, "missing header"),
    ({"E2b-Sandbox-Port": "49983"}, "missing header"),
    ({"E2b-Sandbox-Id": "no/id", "E2b-Sandbox-Port": "49983"}, "Invalid sandbox ID"),
    ({"E2b-Sandbox-Id": NEVER, "E2b-Sandbox-Port": "x"}, "Invalid sandbox port"),
    ({"Host": "evil.example.org"}, "Invalid host"),
])
def test_requests_for_nobody(server, headers, text):
    status, fields, body = server.request("GET", "/health", headers=headers)
    assert (status, body.decode()) == (400, text)
    assert fields["content-type"].startswith("text/plain")


def test_a_sandbox_that_does_not_run(server):
    headers = {"E2b-Sandbox-Id": NEVER, "E2b-Sandbox-Port": "49983"}
    status, fields, body = server.request("POST", "/process.Process/List", b"{}", headers)
    assert status == 502 and fields["content-type"] == "application/json; charset=utf-8"
    assert json.loads(body) == {"sandboxId": NEVER, "message": "The sandbox was not found", "code": 502}


def test_browsers_get_a_page(server):
    headers = {"E2b-Sandbox-Id": NEVER, "E2b-Sandbox-Port": "49983", "User-Agent": "knowledge-bot"}
    status, fields, body = server.request("GET", "/health", headers=headers)
    assert status == 502 and fields["content-type"].startswith("text/html") and b"<html>" in body
    status, fields, _ = server.request("GET", "/health", headers={**headers, "Accept": "application/json"})
    assert fields["content-type"].startswith("application/json")


def test_other_ports_are_not_open(sandbox):
    status, _, body = sandbox.request("GET", "/", headers={"E2b-Sandbox-Port": "8080"})
    assert status == 502
    assert json.loads(body) == {"sandboxId": sandbox.id, "port": 8080, "code": 502,
                                "message": "The sandbox is running but port is not open"}


@pytest.mark.parametrize("path", ["/init", "/freeze", "/unfreeze", "/collapse", "/fsfreeze", "/fsthaw", "/upgrade"])
def test_internal_paths(sandbox, path):
    status, _, body = sandbox.request("POST", path + "?a=b", b"{}")
    error = json.loads(body)
    assert (status, error["code"], error["path"]) == (404, 404, path)
    status, fields, _ = sandbox.request("POST", path, b"{}", {"User-Agent": "Mozilla/5.0"})
    assert status == 404 and fields["content-type"].startswith("text/html")


# ---- tokens and signatures (B.2, D.1) -------------------------------------------------------------


def test_the_token(sandbox):
    for token in (None, "", "0" * 64, sandbox.token[:-1], sandbox.token + "0"):
        status, fields, body = sandbox.request("POST", "/process.Process/List", b"{}",
                                               {"X-Access-Token": token, "Content-Type": "application/json"})
        assert status == 401 and json.loads(body)["code"] == 401
        assert json.loads(body)["message"].startswith("unauthorized access, ")
    assert sandbox.request("GET", "/health", headers={"X-Access-Token": None})[0] == 204
    assert sandbox.request("GET", "/metrics", headers={"X-Access-Token": None})[0] == 401


def test_another_sandboxes_token(server, sandbox):
    other = server.create(secure=True)
    status = sandbox.request("POST", "/process.Process/List", b"{}", {"X-Access-Token": other.token})[0]
    assert status == 401
    server.api("DELETE", "/sandboxes/" + other.id)


def signed(sandbox, path, operation, user="", expiration=None):
    text = ":".join([path, operation, user, sandbox.token] + ([expiration] if expiration else []))
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
    query = {"path": path, "signature": "v1_" + digest}
    if user:
        query["username"] = user
    if expiration:
        query["signature_expiration"] = expiration
    return "/files?" + urllib.parse.urlencode(query)


def test_signed_urls(sandbox):
    bare = {"X-Access-Token": None, "Content-Type": "application/octet-stream"}
    path = "/home/user/a b+c/é"
    later = str(int(time.time()) + 1000)
    assert sandbox.request("POST", signed(sandbox, path, "write", "user", later), b"hello", bare)[0] == 200
    assert sandbox.request("GET", signed(sandbox, path, "read"), headers=bare)[2] == b"hello"
    for target, words in (
            (signed(sandbox, path, "write"), "invalid signature"),
            (signed(sandbox, path, "read") + "&username=root", "invalid signature"),
            (signed(sandbox, path, "read", "", "1000"), "signature is already expired"),
            ("/files?path=%2Fetc%2Fpasswd", "missing signature query parameter")):
        status, _, body = sandbox.request("GET", target, headers=bare)
        assert status == 401 and json.loads(body) == {"code": 401, "message": words}
    status, _, body = sandbox.request("GET", signed(sandbox, path, "read"), headers={"X-Access-Token": "wrong"})
    assert "does not match" in json.loads(body)["message"]


def test_the_token_does_not_reach_the_sandbox(server, sandbox):
    """Nor does the key; what runs inside could use them."""
    # a pattern that does not match the command lines which it stands in
    patterns = ["[%s]%s" % (word[0], word[1:]) for word in (sandbox.token, server.key[4:])]
    found = sandbox.run("cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n' | "
                        "grep -c -e '%s' -e '%s' || true" % tuple(patterns))
    assert found == "0\n"


# ---- streams --------------------------------------------------------------------------------------


def test_each_piece_comes_at_once(sandbox):
    """The command waits for the file that is written when its first output has come."""
    stream = sandbox.start("echo one; until [ -e ~/go ]; do sleep 0.01; done; echo two")
    assert "start" in stream.event()
    assert base64.b64decode(stream.event()["data"]["stdout"]) == b"one\n"
    sandbox.write("go", b"")
    assert base64.b64decode(stream.event()["data"]["stdout"]) == b"two\n"
    assert "end" in stream.event()
    assert stream.event() is None
    stream.close()


def test_a_killed_sandbox_cuts_its_streams(server):
    sandbox = server.create()
    streams = [sandbox.start("sleep 1000") for _ in range(5)]
    for stream in streams:
        assert "start" in stream.event()
    assert server.api("DELETE", "/sandboxes/" + sandbox.id)[0] == 204
    for stream in streams:
        with pytest.raises(CUT):
            stream.event()
        stream.close()


def test_a_client_that_leaves_is_told_to_the_daemon(sandbox):
    """A Start whose reader has gone goes on, its output thrown away (C.9)."""
    stream = sandbox.start("i=0; while [ $i -lt 400 ]; do head -c 32768 /dev/zero; i=$((i+1)); done; touch ~/done")
    assert "start" in stream.event()
    stream.close()
    until(lambda: sandbox.request("GET", "/files?path=done")[0] == 200)


def rss_kib(pid):
    for line in Path("/proc/%d/status" % pid).read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1])
    raise AssertionError("no VmHWM")


SIZE = 256 * 1024 * 1024


def test_an_upload_and_a_download_in_bounded_memory(start_server):
    server = start_server()
    sandbox = server.create(secure=True)
    before = rss_kib(server.process.pid)
    piece = os.urandom(1 << 20)
    with server.connect() as s:
        s.sendall(("POST /files?path=big HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n"
                   "Content-Type: application/octet-stream\r\n" % SIZE
                   + "".join("%s: %s\r\n" % h for h in sandbox.headers().items()) + "\r\n").encode())
        for _ in range(SIZE // len(piece)):
            s.sendall(piece)
        assert s.recv(4096).startswith(b"HTTP/1.1 200")
    digest = hashlib.sha256()
    with server.connect() as s:
        s.sendall(("GET /files?path=big HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                   + "".join("%s: %s\r\n" % h for h in sandbox.headers().items()) + "\r\n").encode())
        data = b""
        while b"\r\n\r\n" not in data:
            data += s.recv(4096)
        head, data = data.split(b"\r\n\r\n", 1)
        assert b"Content-Length: %d" % SIZE in head
        digest.update(data)
        seen = len(data)
        while True:
            data = s.recv(1 << 20)
            if not data:
                break
            digest.update(data)
            seen += len(data)
    assert seen == SIZE
    wanted = hashlib.sha256()
    for _ in range(SIZE // len(piece)):
        wanted.update(piece)
    assert digest.digest() == wanted.digest()
    assert rss_kib(server.process.pid) - before < 8 * 1024


def test_a_slow_reader_holds_the_process_up(start_server):
    server = start_server()
    sandbox = server.create()
    stream = sandbox.start("head -c %d /dev/zero; touch ~/done" % SIZE)
    assert "start" in stream.event()
    other = sandbox.start("for i in 1 2 3 4 5 6 7 8; do sleep 0.1; done; [ -e ~/done ] && echo done || echo held")
    events = list(other)
    assert base64.b64decode(events[1]["data"]["stdout"]) == b"held\n"
    assert rss_kib(server.process.pid) < 64 * 1024
    seen = sum(len(base64.b64decode(e["data"]["stdout"])) for e in stream if "data" in e)
    assert seen == SIZE
    stream.close()
    other.close()


def test_many_streams(start_server):
    """Each costs two descriptors and bounded memory."""
    server = start_server()
    sandbox = server.create()
    streams = [sandbox.start("echo up; cat ~/gate") for _ in range(200)]
    for stream in streams:
        assert "start" in stream.event()
    for stream in streams:
        events = list(stream)
        assert "end" in events[-1]
        stream.close()
    assert rss_kib(server.process.pid) < 64 * 1024 + len(streams) * 1024


def test_a_broken_upload_leaves_what_came(sandbox):
    """D.3"""
    with sandbox.server.connect() as s:
        s.sendall(("POST /files?path=part HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"
                   "Content-Type: application/octet-stream\r\n"
                   + "".join("%s: %s\r\n" % h for h in sandbox.headers().items()) + "\r\nhalf").encode())
    until(lambda: sandbox.request("GET", "/files?path=part")[2] == b"half")


def test_an_answer_before_the_end_of_the_body(sandbox):
    """A refusal comes although the body goes on, and the connection stays usable."""
    with sandbox.server.connect() as s:
        head = ("Host: localhost\r\n" + "".join("%s: %s\r\n" % h for h in sandbox.headers().items()))
        s.sendall(("POST /files?path=x HTTP/1.1\r\nContent-Type: text/plain\r\nContent-Length: 4000000\r\n"
                   + head + "\r\n").encode())
        for _ in range(4):
            s.sendall(b"y" * 1000000)
        answer = read_answer(s)
        assert answer.startswith(b"HTTP/1.1 400")
        s.sendall(("GET /health HTTP/1.1\r\n" + head + "\r\n").encode())
        assert read_answer(s).startswith(b"HTTP/1.1 204")


def read_answer(s):
    """Head and body by Content-Length."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = s.recv(4096)
        assert piece, data
        data += piece
    head, body = data.split(b"\r\n\r\n", 1)
    length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n")
                   if line.lower().startswith(b"content-length")), 0)
    while len(body) < length:
        piece = s.recv(4096)
        assert piece, data
        body += piece
    return head + b"\r\n\r\n" + body


# ---- HTTP -----------------------------------------------------------------------------------------


def raw(server, text):
    """What comes back for these bytes until the server closes."""
    with server.connect() as s:
        s.sendall(text)
        data = b""
        while True:
            try:
                piece = s.recv(65536)
            except ConnectionResetError:
                return data
            if not piece:
                return data
            data += piece


@pytest.mark.parametrize("head", [
    "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
    "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n",
    "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: five\r\n",
    "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n",
    "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n",
    "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n",
    "GET / HTTP/1.1\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n",
    "GET /\x01 HTTP/1.1\r\nHost: localhost\r\n",
])
def test_what_is_no_request_is_400(server, head):
    assert raw(server, head.encode() + b"\r\n").startswith(b"HTTP/1.1 400")


def test_other_refusals_of_http(server):
    head = "GET / HTTP/1.1\r\nHost: localhost\r\n"
    assert raw(server, (head + "Expect: miracles\r\n\r\n").encode()).startswith(b"HTTP/1.1 417")
    assert raw(server, b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n").startswith(b"HTTP/1.1 414")
    assert raw(server, (head + "X: " + "a" * 200000 + "\r\n\r\n").encode()).startswith((b"HTTP/1.1 431", b""))
    assert server.api("GET", "/v2/sandboxes")[0] == 200


def test_half_requests_and_noise(server):
    """The server lives, and forgets those who leave."""
    folder = "/proc/%d/fd" % server.process.pid
    before = len(os.listdir(folder))
    for text in (b"", b"G", b"GET / HT", b"GET / HTTP/1.1\r\nHo", b"\x16\x03\x01\x02\x00", b"\r\n" * 100, b"\0" * 1000,
                 b"POST /sandboxes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhal",
                 b"POST /sandboxes HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                 b"POST /sandboxes HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n"):
        with server.connect() as s:
            s.sendall(text)
    assert server.api("GET", "/v2/sandboxes")[0] == 200
    until(lambda: len(os.listdir(folder)) <= before)


def test_expect_100_continue(server, sandbox):
    head = "Host: localhost\r\nContent-Type: application/octet-stream\r\nExpect: 100-continue\r\nContent-Length: 5\r\n"
    with server.connect() as s:
        s.sendall(("POST /files?path=e HTTP/1.1\r\n" + head
                   + "".join("%s: %s\r\n" % h for h in sandbox.headers().items()) + "\r\n").encode())
        assert s.recv(4096).startswith(b"HTTP/1.1 100")
        s.sendall(b"hello")
        assert read_answer(s).startswith(b"HTTP/1.1 200")
    # a refusal comes instead of the invitation
    with server.connect() as s:
        s.sendall(("POST /sandboxes HTTP/1.1\r\n" + head + "\r\n").encode())
        assert read_answer(s).startswith(b"HTTP/1.1 401")


def test_pipelined_requests(server, sandbox):
    head = "Host: localhost\r\n" + "".join("%s: %s\r\n" % h for h in sandbox.headers().items()) + "\r\n"
    with server.connect() as s:
        s.sendall(("GET /health HTTP/1.1\r\n" + head).encode() * 5)
        data = b""
        while data.count(b"HTTP/1.1 204") < 5:
            piece = s.recv(4096)
            assert piece
            data += piece


def test_header_bytes_that_are_no_utf8(sandbox):
    s = sandbox.server.connect()
    with s:
        s.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Odd: \xff\xfe \xc3\xa9\r\n"
                  + "".join("%s: %s\r\n" % h for h in sandbox.headers().items()).encode() + b"\r\n")
        assert read_answer(s).startswith(b"HTTP/1.1 204")


def test_an_absolute_target(server, sandbox):
    with server.connect() as s:
        s.sendall(("GET http://localhost/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                   + "".join("%s: %s\r\n" % h for h in sandbox.headers().items()) + "\r\n").encode())
        assert s.recv(4096).startswith(b"HTTP/1.1 204")


def test_clients_that_reset(server, sandbox):
    """Nothing of them is left: descriptors of the server go back to what they were."""
    folder = "/proc/%d/fd" % server.process.pid
    before = len(os.listdir(folder))
    for _ in range(30):
        stream = sandbox.start("sleep 30")
        assert "start" in stream.event()
        # with this a close is a reset
        stream.connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        stream.close()
    until(lambda: len(os.listdir(folder)) <= before)


def test_concurrent_short_requests(server, sandbox):
    failures = []

    def work():
        for _ in range(50):
            if sandbox.request("GET", "/health")[0] != 204:
                failures.append(1)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
    assert not failures
