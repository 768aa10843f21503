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


# The look at the lease: nobody waits for it (B-32).
LOOK = "beside GET /sandboxes/*"


@pytest.fixture
def start_session(server):
    """Sessions whose both planes lead through a peer: start_session(peer, home, option=text); of
    a persistent scope if home is given."""
    sessions = []

    def start(peer, home=None, **options):
        settings = peer.environment
        sessions.append(_native.Session({
            "api_key": settings["E2B_API_KEY"], "api_url": settings["E2B_API_URL"],
            "sandbox_url": settings["E2B_SANDBOX_URL"], **options}, {}, home and str(home), "task"))
        return sessions[-1]

    yield start
    for session in sessions:
        close(session)              # closing what is closed is fine
    server.kill_all()


@pytest.fixture
def through(peer, server):
    """A peer before the server."""
    return lambda script="": peer(LOOK + "\n" + script, server)


def close(session):
    closing = session.close()
    while not closing.wait(1000):
        pass
    assert closing.failure is None


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
        "%s %s" % (request["method"], request["path"].partition("?")[0])
        for request in requests[:command + 1] if request["turn"]]


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


LIST = "GET /v2/sandboxes"


def test_persistent_create(through, start_session, tmp_path):  # 4
    it = through()
    run(start_session(it, tmp_path), "echo the-word")
    assert turns(it, "the-word") == (4, [LIST, "POST /sandboxes", START, START])


def test_reader_attaches(through, start_session, tmp_path):  # 4
    it = through()
    run(start_session(it, tmp_path), "true")
    before = it.count("turns")
    reader = start_session(it, tmp_path)
    run(reader, "echo the-word")
    assert reader.role == "reading"
    number, requests = turns(it, "the-word")
    assert number == before + 4
    [attach] = [i for i, r in enumerate(requests) if r.endswith("/connect")]
    assert requests[attach - 1:] == [LIST, requests[attach], START, START]


def test_writer_attaches(through, start_session, tmp_path):  # 5
    it = through()
    first = start_session(it, tmp_path)
    run(first, "true")
    close(first)
    before = it.count("turns")
    writer = start_session(it, tmp_path)
    run(writer, "echo the-word")
    assert writer.role == "holding"
    number, requests = turns(it, "the-word")
    assert number == before + 5
    [attach] = [i for i, r in enumerate(requests) if r.endswith("/connect")]
    assert requests[attach - 1:] == [LIST, requests[attach], START, START, START]


def test_promotion(through, start_session, tmp_path):  # 3: the writer's way in a sandbox that is known
    it = through()
    first, second = start_session(it, tmp_path), start_session(it, tmp_path)
    run(first, "true")
    run(second, "true")
    close(first)
    before = it.count("turns")
    run(second, "echo the-word")
    assert second.role == "holding" and turns(it, "the-word")[0] == before + 3


@pytest.mark.parametrize("role", ["holding", "reading"])
def test_ready_command_in_a_scope(through, start_session, tmp_path, role):  # 1
    it = through()
    sessions = [start_session(it, tmp_path) for _ in range(2)]
    for session in sessions:
        run(session, "true")
    [session] = [s for s in sessions if s.role == role]
    for n in range(3):
        before, asked = it.count("turns"), it.count("requests")
        run(session, "echo word-%d" % n)
        assert it.count("turns") == before + 1 and it.count("requests") == asked + 1


def test_end_of_a_persistent_session(through, start_session, tmp_path):  # none: left to its lease
    it = through()
    session = start_session(it, tmp_path)
    run(session, "true")
    before = it.count("requests")
    close(session)
    assert it.count("requests") == before


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
    # warm; a second one where the end of the stream before was still on its way (B-42)
    assert it.count("connections") <= 2


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
    assert number == before + 2
    [connect, start] = requests[-2:]
    assert connect.endswith("/connect") and start == START


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
