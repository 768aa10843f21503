"""Fixtures of the end-to-end tests: e2b-local on a free port with a state folder of its own."""
import pytest
from local_server import Server
from scripted_peer import Peer
from tls_front import Tls


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """One server for all tests that do not end it."""
    server = Server(tmp_path_factory.mktemp("e2b-local") / "state")
    yield server
    assert server.stop() == 0, server.log_text()


@pytest.fixture
def start_server(tmp_path):
    """Starts servers that end with the test: start_server(name="state", *options)."""
    started = []

    def start(name="state", *options):
        started.append(Server(tmp_path / name, *options))
        return started[-1]

    yield start
    for server in started:
        if server.process.poll() is None:
            server.stop()


@pytest.fixture(scope="session")
def tls(tmp_path_factory):
    """A private CA, and nginx before servers: tls.front(url)."""
    tls = Tls(tmp_path_factory.mktemp("tls") / "tls")
    yield tls
    tls.stop()


@pytest.fixture
def sandbox(server):
    """A secure sandbox that is killed with the test."""
    sandbox = server.create(secure=True)
    yield sandbox
    server.api("DELETE", "/sandboxes/" + sandbox.id)


@pytest.fixture
def sdk(server, monkeypatch):
    """The environment of the official SDK; sandboxes that a test leaves are killed."""
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    yield
    server.kill_all()


@pytest.fixture
def peer():
    """Starts scripted peers: peer(script, server=None). What a script expected must have come by the
    end of the test, unless the test has asked for end() itself."""
    started = []

    def start(script, server=None):
        started.append(Peer(script, server))
        return started[-1]

    yield start
    try:
        for one in started:
            if one.verdict is None:
                assert one.end() == "ok"
    finally:
        for one in started:
            one.kill()
