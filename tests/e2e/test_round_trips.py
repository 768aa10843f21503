"""What users wait for, counted: dependent turns of request and answer up to and including the head
of the answer to a command's Start, on warm connections (the architecture's budgets). Counted by the
scripted peer, not timed; what goes beside costs no turn of its own."""
import os

import pytest
import test_cli
from hermes_e2b import _native
from local_server import until

START = "POST /process.Process/Start"
CONNECT = "POST /sandboxes/*/connect"


@pytest.fixture
def start_session(server):
    """Sessions whose both planes lead through a peer: start_session(peer, option=text)."""
    sessions = []

    def start(peer, **options):
        settings = peer.environment
        sessions.append(_native.Session({
            "api_key": settings["E2B_API_KEY"], "api_url": settings["E2B_API_URL"],
            "sandbox_url": settings["E2B_SANDBOX_URL"], **options}))
        return sessions[-1]

    yield start
    for session in sessions:
        closing = session.close()
        while not closing.wait(1000):
            pass
    server.kill_all()


@pytest.fixture
def through(peer, server):
    """A peer before the server."""
    return lambda script="": peer(script, server)


def run(session, text, **options):
    """Output of a command that must end well."""
    command = session.command(text.encode(), **options)
    with os.fdopen(command.take_fd(), "rb") as pipe:
        output = pipe.read()
    while not command.wait(1000):
        pass
    assert (command.outcome, command.exit_code) == (_native.ENDED, 0), command.failure
    return output


def turns(peer, word):
    """Turns up to the Start whose command has this word, and what each request was."""
    requests = peer.requests()
    [command] = [i for i, request in enumerate(requests) if word in request["body"]]
    assert requests[command]["path"] == "/process.Process/Start"
    return requests[command]["turn"], [
        "%s %s" % (request["method"], request["path"]) for request in requests[:command + 1]]


# ---- from nothing to a command ----


def test_ephemeral_create(through):  # 3
    """Create, look around, start; what the shell's user gets."""
    it = through()
    ran = test_cli.run(it.environment, "run", "--", "echo the-word")
    assert (ran.returncode, ran.stdout) == (0, b"the-word\n")
    assert turns(it, "the-word") == (3, ["POST /sandboxes", START, START])
    # the end of it: one kill, and nothing else
    assert it.count("DELETE /sandboxes/*") == 1 and it.count("turns") == it.count("requests") == 4


def test_first_commands_at_once(through, start_session):  # 3: they share one bring-up
    it = through()
    session = start_session(it)
    commands = [session.command(b"echo word-%d" % n) for n in range(5)]
    for n, command in enumerate(commands):
        with os.fdopen(command.take_fd(), "rb") as pipe:
            assert pipe.read() == b"word-%d\n" % n
        while not command.wait(1000):
            pass
    assert it.count("POST /sandboxes") == 1 and it.count(START) == 1 + 5
    [first, *_] = [r["turn"] for r in it.requests() if "word-" in r["body"]]
    assert first == 3


# Budgets of persistent sandboxes belong here, as tests of their own, once sessions have a scope:
# create 4, a reader that attaches 4, a writer that attaches 5 without host state.


# ---- a command on a ready environment ----


def test_ready_command(through, start_session):  # 1
    it = through()
    session = start_session(it)
    waiter = session.prepare()
    while not waiter.wait(1000):
        pass
    for n in range(3):
        before, asked = it.count("turns"), it.count("requests")
        assert run(session, "echo word-%d" % n) == b"word-%d\n" % n
        assert it.count("turns") == before + 1 and it.count("requests") == asked + 1
    assert it.count("connections") == 1         # warm


def test_command_with_stdin(through, start_session):  # 2: the end of it comes in-band
    it = through()
    session = start_session(it)
    run(session, "true")
    before, asked = it.count("turns"), it.count("requests")
    assert run(session, "cat", stdin=b"hello") == b"hello"
    assert it.count("turns") == before + 2 and it.count("requests") == asked + 2


# ---- renewals (B-31) ----

# One that is not answered before the command is.
HELD_RENEWAL = ("when answered POST /process.Process/Start release begun\n"
                "expect POST /sandboxes/*/connect\n  do delay-answer-until begun")


def test_renewal_goes_beside(through, start_session):  # 1
    it = through("barrier begun")
    session = start_session(it)
    run(session, "true")
    it.script(HELD_RENEWAL)
    before = it.count("turns")
    run(session, "echo the-word", timeout_ms=1000000)
    assert turns(it, "the-word")[0] == before + 1
    # it was answered in the end, not given up by a session that waited for it
    until(lambda: [r["end"] for r in it.requests() if r["path"].endswith("/connect")] == ["answered"])


def test_renewal_comes_first_when_little_is_left(through, start_session):  # 2
    it = through()
    session = start_session(it, lease_seconds="60", command_grace_seconds="0")
    run(session, "true")                        # of a lease of 60 s less than 60 are left now
    before = it.count("turns")
    run(session, "echo the-word", timeout_ms=100000)
    number, requests = turns(it, "the-word")
    assert number == before + 2 and requests[-2].endswith("/connect") and requests[-1] == START


def test_renewals_are_throttled(through, start_session):  # at most one per 30 s
    """A hundred commands, each of which would need more than is left."""
    it = through("barrier begun")
    session = start_session(it)
    run(session, "true")
    it.script(HELD_RENEWAL)
    before = it.count("turns")
    for n in range(100):
        run(session, "true", timeout_ms=(1000 + 100 * n) * 1000)
    assert it.count(CONNECT) == 1 and it.count(START) == 2 + 100
    assert it.count("turns") == before + 100
