"""Commands over TLS, through a server that offers HTTP/2 and one that does not (B-40 to B-50, B-101)."""
import contextlib
import os
import subprocess
import threading

import pytest
from hermes_e2b import _native
from local_server import DEADLINE, builddir, until
from tls_front import needs_nginx

pytestmark = needs_nginx
START = "/process.Process/Start"


@pytest.fixture(scope="module")
def trust(tls):
    """The private CA, by the usual variable."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", tls.authority.file)
        yield


@pytest.fixture(scope="module", params=[True, False], ids=["h2", "http1.1"])
def front(request, server, tls, trust):
    front = tls.front(server.url, http2=request.param)
    front.http2 = request.param
    return front


def open_session(server, front):
    return _native.Session({"api_key": server.key, "api_url": front.url(),
                            "sandbox_url": front.url()})


def close(session):
    closing = session.close()
    while not closing.wait(1000):
        pass


@pytest.fixture
def session(server, front):
    session = open_session(server, front)
    yield session
    close(session)


def finish(command):
    while not command.wait(1000):
        pass
    return command


def run(session, text, **options):
    command = session.command(text, **options)
    with os.fdopen(command.take_fd(), "rb") as pipe:
        output = pipe.read()
    return output, finish(command)


def test_output_code_and_true_order(session):  # B-40, B-41
    output, command = run(session, b"for i in 1 2 3; do echo out $i; echo err $i >&2; done; exit 7")
    assert output == b"".join(b"out %d\nerr %d\n" % (i, i) for i in (1, 2, 3))
    assert (command.outcome, command.exit_code, command.failure) == (_native.ENDED, 7, None)


def test_large_output(session):  # B-40
    output, command = run(session, b"seq 1 2000000")
    assert output == b"".join(b"%d\n" % i for i in range(1, 2000001))
    assert command.exit_code == 0


def test_stdin(session):  # B-45
    data = os.urandom(3 << 20)
    output, command = run(session, b"cat", stdin=data)
    assert output == data and command.stdin_failure is None


def test_stdin_that_is_not_read(session):  # B-45
    _, command = run(session, b"exit 3", stdin=b"x" * 3_000_000)
    assert command.exit_code == 3


def test_a_command_too_large_for_an_argument(session):  # B-46
    output, command = run(session, b"echo begin; : " + b"x" * 1_000_000 + b"; echo end")
    assert (output, command.exit_code) == (b"begin\nend\n", 0)


def test_the_limit(session):  # B-43
    output, command = run(session, b"echo partial; sleep 600", timeout_ms=500)
    assert output == b"partial\n"
    assert (command.outcome, command.exit_code) == (_native.TIMED_OUT, 124)


def test_a_kill_ends_the_group_and_nothing_else(session):  # B-43
    other = session.command(b"read line; echo $line", stdin=b"heard\n")
    command = session.command(b"sleep 4711 & echo begun; sleep 4711")
    with os.fdopen(command.take_fd(), "rb") as pipe:
        assert pipe.readline() == b"begun\n"
        command.kill()
        assert pipe.read() == b""
    assert finish(command).outcome == _native.KILLED
    with os.fdopen(other.take_fd(), "rb") as pipe:
        assert pipe.read() == b"heard\n"
    assert finish(other).exit_code == 0
    assert run(session, b"pgrep -fc '^sleep 471[1]'")[0] == b"0\n"


def test_what_lives_on_in_the_background(session):  # B-42
    output, command = run(session, b"(sleep 4712; echo late) & echo now")
    assert (output, command.exit_code) == (b"now\n", 0)
    assert run(session, b"pgrep -fc '^sleep 471[2]'")[0] == b"1\n"


def test_many_at_once(session):  # B-50
    run(session, b"true")
    results = [None] * 40

    def one(i):
        results[i] = run(session, b"echo %d; exit %d" % (i, i))

    threads = [threading.Thread(target=one, args=(i,)) for i in range(len(results))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(output, command.exit_code) for output, command in results] == \
        [(b"%d\n" % i, i) for i in range(len(results))]


def test_streams_take_http_1_1_and_the_rest_what_is_offered(server, tls, front):
    """A paused stream of HTTP/2 would be buffered by libcurl."""
    own = tls.front(server.url, http2=front.http2)
    session = open_session(server, own)
    with contextlib.closing(own):
        assert run(session, b"cat", stdin=b"data")[0] == b"data"
        close(session)
        seen = until(lambda: own.seen() if own.seen()[-1][1] == "DELETE" else None)
    protocols = {path: protocol for protocol, _, path, _ in seen}
    offered = "HTTP/2.0" if front.http2 else "HTTP/1.1"
    assert protocols["/sandboxes"] == protocols["/process.Process/SendInput"] == offered
    assert [protocol for protocol, _, path, _ in seen if path == START] == ["HTTP/1.1"] * 2


def test_warm_connections_are_used_again(server, tls, front):
    own = tls.front(server.url, http2=front.http2)
    session = open_session(server, own)
    with contextlib.closing(own):
        for _ in range(10):
            assert run(session, b"echo again")[0] == b"again\n"
        close(session)
        until(lambda: own.seen()[-1][1] == "DELETE")
        # one for the control plane; one more may be taken before the end of a stream was read
        assert own.connections() <= 3


def test_a_stream_that_is_cut_runs_nothing_twice(session, front):  # B-47, B-48
    """Cut in the middle of a TLS record's worth, without close-notify, on a connection that was used
    before."""
    run(session, b"true")
    command = session.command(b"echo >> /tmp/ran; echo begun; sleep 1; echo >> /tmp/ended; exit 5")
    with os.fdopen(command.take_fd(), "rb") as pipe:
        assert pipe.readline() == b"begun\n"
        front.cut()
        pipe.read()
    finish(command)
    # found again by its pid: its own code is known, and that output may be missing (B-41)
    assert (command.outcome, command.exit_code) == (_native.INCOMPLETE, 255)
    assert command.failure["code"] == "HE2B_ERR_LOST" and "5" in command.failure["text"]
    until(lambda: run(session, b"cat /tmp/ended 2>/dev/null")[0] == b"\n")
    assert run(session, b"cat /tmp/ran")[0] == b"\n"


def test_a_sandbox_that_is_killed_meanwhile(server, session):  # B-48
    run(session, b"true")
    command = session.command(b"echo begun; sleep 600")
    with os.fdopen(command.take_fd(), "rb") as pipe:
        assert pipe.readline() == b"begun\n"
        assert server.api("DELETE", "/sandboxes/" + session.sandbox_id)[0] == 204
        assert pipe.read() == b""
    finish(command)
    assert (command.outcome, command.exit_code) == (_native.UNKNOWN, 255)
    assert command.failure["code"] == "HE2B_ERR_GONE"


def test_the_program(server, front):
    environment = {**os.environ, "E2B_API_KEY": server.key, "E2B_API_URL": front.url(),
                   "E2B_SANDBOX_URL": front.url()}
    done = subprocess.run([str(builddir() / "hermes-e2b"), "run", "--stdin", "--", "tr a-z A-Z; exit 3"],
                          input=b"by the program\n", stdout=subprocess.PIPE, env=environment,
                          timeout=DEADLINE)
    assert (done.stdout, done.returncode) == (b"BY THE PROGRAM\n", 3)
