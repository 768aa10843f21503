"""Servers on IPv6 loopback, by address and by name, in clear text and over TLS (FB-49)."""
import os

import pytest
from hermes_e2b import _native
from local_server import Server
from tls_front import needs_nginx


def exercise(key, url, **options):
    """What each way must do: output, code, stdin, a kill."""
    session = _native.Session({"api_key": key, "api_url": url, "sandbox_url": url, **options})

    def run(text, **more):
        command = session.command(text, **more)
        with os.fdopen(command.take_fd(), "rb") as pipe:
            output = pipe.read()
        while not command.wait(1000):
            pass
        return output, command

    try:
        data = os.urandom(200_000)
        output, command = run(b"cat; exit 7", stdin=data)
        assert (output, command.exit_code) == (data, 7), command.failure
        output, command = run(b"echo partial; sleep 600", timeout_ms=300)
        assert (output, command.outcome) == (b"partial\n", _native.TIMED_OUT)
    finally:
        closing = session.close()
        while not closing.wait(1000):
            pass


@pytest.fixture(scope="module")
def six(tmp_path_factory):
    """An e2b-local that listens on ::1 alone."""
    server = Server(tmp_path_factory.mktemp("six") / "state", "--host", "::1")
    yield server
    server.stop()


@pytest.mark.parametrize("host", ["[::1]", "localhost", "[0:0:0:0:0:0:0:1]"])
def test_clear_text(six, host):
    assert six.url.startswith("http://[::1]:")
    exercise(six.key, "http://%s:%d" % (host, six.port))


def test_a_name_with_both_families_where_only_the_old_one_answers(server):
    exercise(server.key, "http://localhost:%d" % server.port)


@needs_nginx
@pytest.mark.parametrize("http2", [True, False], ids=["h2", "http1.1"])
def test_tls(six, tls, http2):
    front = tls.front(six.url, http2=http2)
    exercise(six.key, front.url("[::1]"), ca_file=tls.authority.file)
    assert front.seen()


@needs_nginx
def test_the_certificate_must_name_the_address(six, tls):  # B-101
    front = tls.front(six.url, tls.authority.issue("v4", names="IP:127.0.0.1,DNS:localhost"))
    session = _native.Session({"api_key": six.key, "api_url": front.url("[::1]"),
                               "sandbox_url": front.url("[::1]"), "ca_file": tls.authority.file})
    waiter = session.prepare()
    while not waiter.wait(1000):
        pass
    assert waiter.failure["code"] == "HE2B_ERR_TLS"
    assert front.seen() == []
    closing = session.close()
    while not closing.wait(1000):
        pass
