"""Sessions of one persistent scope in processes of their own, against e2b-local."""

import errno
import fcntl
import gc
import hashlib
import os
import pathlib
import shlex
import socket
import subprocess

import pytest
from local_server import until
from scope_session import Session


@pytest.fixture
def start(server, tmp_path):
    """Starts sessions with the home of the test: start(**what Session takes)."""
    started = []
    home = tmp_path / "home"
    home.mkdir()

    def make(where=server, **options):
        started.append(Session(where, home, **options))
        return started[-1]

    make.home = home
    yield make
    for session in started:
        session.end()
    server.kill_all()


def sandboxes(server):
    return server.api("GET", "/v2/sandboxes?state=running,paused")[2]


def coordination(home, scope, suffix):
    return home / "cache" / "e2b" / (scope + suffix)


@pytest.fixture(scope="session")
def preload(tmp_path_factory):
    """The shim that makes locks fail, built."""
    source = pathlib.Path(__file__).with_name("flock_preload.c")
    shim = tmp_path_factory.mktemp("shim") / "flock_preload.so"
    compiler = shlex.split(os.environ.get("CC") or "cc")
    subprocess.run([*compiler, "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True)
    return str(shim)


class Stranger:
    """Another process that holds a scope's writer lease, by the constants alone."""

    def __init__(self, home, scope):
        path = coordination(home, scope, ".writer.lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file = open(path, "w")
        fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def release(self):
        self.file.close()


def lease_is_free(home, scope):
    try:
        Stranger(home, scope).release()
    except BlockingIOError:
        return False
    return True


def scope_of(home, task="task", template="base"):
    """B-10, written from the rule."""
    texts = [os.path.realpath(home), task, template, "persistent", "net", "secure"]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:32]


def test_it_is_there_again(server, start):  # B-20, B-21, B-91
    first = start()
    first.run("echo kept > ~/file; mkdir -p /tmp/work")
    made = first.ask("state")["sandbox"]
    assert first.end() == 0
    assert [s["sandboxID"] for s in sandboxes(server)] == [made]
    second = start()
    assert second.run("cat ~/file") == "kept\n"
    assert second.ask("state")["sandbox"] == made


def test_the_scope_is_the_rules(start):  # B-10
    session = start()
    assert session.ask("state")["scope"] == scope_of(start.home)


@pytest.mark.parametrize("count", [2, 20])
def test_all_at_once(server, start, count):  # B-24, B-60
    sessions = [start() for _ in range(count)]
    for session in sessions:
        session.ask("state")
    for session in sessions:
        session.send("run", text="echo $HOSTNAME; id -un")
    answers = [session.answer() for session in sessions]
    # who is refused is told why, and does better a moment later
    for session, answer in zip(sessions, answers):
        if answer["failure"] is not None:
            assert answer["failure"]["code"] in ("HE2B_ERR_ROLE", "HE2B_ERR_NOT_READY"), answer
            until(lambda: session.ask("run", text="true")["failure"] is None)
    assert len(sandboxes(server)) == 1
    roles = [session.ask("state")["role"] for session in sessions]
    assert sorted(roles) == ["holding"] + ["reading"] * (count - 1)


def test_the_writers_death_hands_the_role_over(server, start):  # B-60, B-65
    writer, reader = start(), start()
    writer.run("echo one > ~/file")
    reader.run("true")
    assert reader.ask("state")["role"] == "reading"
    writer.kill()
    assert reader.run("cat ~/file") == "one\n"
    assert reader.ask("state")["role"] == "holding"
    assert len(sandboxes(server)) == 1


# Where a session dies on its way from nothing to its first command: before an answer that it waits for.
POINTS = ["GET /v2/sandboxes", "POST /sandboxes", "POST /process.Process/Start"]


@pytest.mark.parametrize("point", POINTS + ["the command"])
def test_a_death_on_the_way_leaves_one_sandbox(server, start, peer, point):  # B-24, B-25, FB-29
    if point == "the command":
        it = peer("barrier never\nexpect POST /process.Process/Start\n"
                  "expect POST /process.Process/Start\n  do delay-answer-until never", server)
    else:
        it = peer("barrier never\nexpect %s\n  do delay-answer-until never" % point, server)
    session = start(where=it)
    session.send("run", text="true")
    until(lambda: it.count(POINTS[2]) == 2 if point == "the command" else it.count(point))
    if point == "POST /sandboxes":
        until(server.ids)  # it was made, and nobody heard of it
    session.kill()
    session = start()
    assert session.run("echo ran") == "ran\n"
    assert session.ask("state")["role"] == "holding"
    assert len(server.ids()) == 1


LOST = [
    "do lose-before-head",
    "do cut-head-after 20",
    "do cut-after 10",
    "do replace-status 504",
]


@pytest.mark.parametrize("fault", LOST)
def test_a_create_whose_answer_is_lost(server, start, peer, fault):  # B-25
    it = peer("expect POST /sandboxes\n  " + fault, server)
    session = start(where=it)
    assert session.run("echo ran") == "ran\n"
    assert it.count("POST /sandboxes") == 1
    assert server.ids() == {session.ask("state")["sandbox"]}


UNKNOWN = [
    ("do answer 401 application/json {}", "HE2B_ERR_KEY"),
    ("do answer 403 application/json {}", "HE2B_ERR_REFUSED"),
    ("do answer 200 application/json null", "HE2B_ERR_PROTOCOL"),
    ("do answer 200 application/json {}", "HE2B_ERR_PROTOCOL"),
]


@pytest.mark.parametrize("fault, code", UNKNOWN)
def test_a_look_up_without_an_answer_makes_nothing(server, start, peer, fault, code):  # B-22, B-64
    it = peer("expect GET /v2/sandboxes\n  always\n  " + fault, server)
    session = start(where=it)
    answer = session.ask("run", text="echo ran")
    assert answer["failure"]["code"] == code and answer["output"] == ""
    assert it.count("POST /sandboxes") == 0 and not server.ids()
    assert lease_is_free(start.home, answer["scope"])


def test_a_reader_refuses_while_the_scope_is_dirty(server, start):  # B-65, B-67
    first = start()
    first.run("echo x > ~/file")
    scope = first.ask("state")["scope"]
    first.end()
    stranger = Stranger(start.home, scope)
    marker = coordination(start.home, scope, ".state-dirty")
    marker.write_text("a writer is taking over\npid=1\n")
    session = start()
    answer = session.ask("run", text="cat ~/file")
    assert answer["failure"]["code"] == "HE2B_ERR_NOT_READY" and answer["output"] == ""
    assert "being rebuilt or is known to be stale" in answer["failure"]["text"]
    assert answer["failure"]["hint"]
    marker.unlink()
    assert session.run("cat ~/file") == "x\n"
    assert session.ask("state")["role"] == "reading"
    # B-62: it has to be the marker's turn again when the writer goes
    stranger.release()
    assert session.run("cat ~/file") == "x\n"
    assert session.ask("state")["role"] == "holding"
    assert not marker.exists()


def test_another_plugin_on_the_same_scope(server, start):  # B-10, B-60, B-65
    """What the Python plugin leaves is found; what this one leaves, it would find."""
    scope = scope_of(start.home)
    made = server.create(
        secure=True,
        autoPause=True,
        autoPauseMemory=False,
        metadata={"hermes_plugin": "e2b-terminal", "hermes_scope": scope},
    )
    stranger = Stranger(start.home, scope)
    session = start()
    refused = session.ask("run", text="true")
    assert refused["failure"]["code"] == "HE2B_ERR_NOT_READY"  # not stamped yet
    made.run(f"echo {made.id} > ~/.hermes-e2b-state-ready")
    assert session.run("echo ran") == "ran\n"
    state = session.ask("state")
    assert state["sandbox"] == made.id and state["role"] == "reading"
    stranger.release()
    session.run("true")
    assert session.ask("state")["role"] == "holding"
    lines = session.run("cat ~/.hermes-e2b-state-ready").split("\n")
    assert lines[0] == made.id and len(lines[1]) == 32 and lines[2] == ""
    assert not lease_is_free(start.home, scope)


@pytest.mark.parametrize("lives", [False, True])
def test_a_fork_of_the_writer(server, start, lives):  # B-60
    writer = start()
    writer.run("true")
    scope = writer.ask("state")["scope"]
    writer.ask("fork", lives=lives)
    assert not lease_is_free(start.home, scope)
    assert writer.run("echo on") == "on\n"
    assert writer.ask("state")["role"] == "holding"
    # a child that lives on keeps nothing of it
    writer.kill()
    assert lease_is_free(start.home, scope)


@pytest.mark.parametrize("why", ["read-only", "normal user"])
def test_a_home_that_cannot_be_written(server, start, why):  # B-61
    # a process without capabilities is a normal user to the files of its own user, too
    options = {
        "read-only": ["--ro-bind", str(start.home), str(start.home)],
        "normal user": ["--unshare-user", "--uid", "1000", "--gid", "1000"],
    }[why]
    if why == "normal user":
        start.home.chmod(0o555)
    session = start(wrapper=["bwrap", "--dev-bind", "/", "/", *options])
    answer = session.ask("run", text="echo ran")
    assert answer["output"] == "ran\n", answer
    said = [text for text in answer["log"] if "NOT SUPPORTED" in text]
    assert 1 <= len(said) <= 2  # the lock, and the marker
    again = session.ask("run", text="echo ran")
    assert not [text for text in again["log"] if "NOT SUPPORTED" in text]
    assert not (start.home / "cache").exists()


@pytest.mark.parametrize("why", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_home_that_cannot_lock(server, start, preload, why):  # B-61, FB-30
    shim = {"LD_PRELOAD": preload, "FLOCK_ERRNO": str(why), "FLOCK_TIMES": "1000000"}
    session = start(environment=shim)
    answer = session.ask("run", text="echo ran")
    assert answer["output"] == "ran\n", answer
    assert sum("NOT SUPPORTED" in text for text in answer["log"]) == 1
    again = session.ask("run", text="echo ran")
    assert not any("NOT SUPPORTED" in text for text in again["log"])


def test_locks_that_are_interrupted_ten_times(server, start, preload):  # B-61, FB-30
    shim = {"LD_PRELOAD": preload, "FLOCK_ERRNO": str(errno.EINTR), "FLOCK_TIMES": "10"}
    session = start(environment=shim)
    answer = session.ask("run", text="echo ran")
    assert (answer["output"], answer["role"], answer["log"]) == ("ran\n", "holding", [])
    assert not lease_is_free(start.home, answer["scope"])


@pytest.mark.parametrize("why", [errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EIO])
def test_no_second_writer_for_lack_of_descriptors(server, start, preload, why):  # B-61
    writer = start()
    writer.run("true")
    shim = {"LD_PRELOAD": preload, "OPEN_ERRNO": str(why), "OPEN_TIMES": "2"}
    session = start(environment=shim)
    for _ in range(2):
        answer = session.ask("run", text="echo ran")
        assert answer["failure"]["code"] == "HE2B_ERR_STEP", answer
        assert os.strerror(why) in answer["failure"]["text"] and answer["failure"]["hint"]
        assert answer["output"] == ""
    assert session.ask("run", text="echo ran")["role"] == "reading"
    assert writer.ask("run", text="true")["role"] == "holding"


def test_a_finaliser_releases_and_kills_nothing(server, start):  # B-95
    from hermes_e2b import _native

    options = {
        "api_key": server.key,
        "api_url": server.environment["E2B_API_URL"],
        "sandbox_url": server.environment["E2B_SANDBOX_URL"],
    }
    session = _native.Session(options, {}, str(start.home), "task")
    waiter = session.prepare(0)
    while not waiter.wait(1000):
        pass
    assert waiter.failure is None
    made, scope = session.sandbox_id, session.scope
    assert not lease_is_free(start.home, scope)
    del session, waiter
    gc.collect()
    until(lambda: lease_is_free(start.home, scope))
    assert server.ids() == {made}


def test_a_vanished_sandbox_is_replaced(server, start):  # B-97
    session = start()
    session.run("touch ~/file")
    made = session.ask("state")["sandbox"]
    server.api("DELETE", "/sandboxes/" + made)
    answer = session.ask("run", text="ls ~/file 2>/dev/null; echo ran")
    assert answer["output"] == "ran\n" and answer["sandbox"] != made
    assert answer["generation"] == 2
    assert [s["sandboxID"] for s in sandboxes(server)] == [answer["sandbox"]]


def test_paused_at_expiry_and_resumed_by_the_next_session(server, start):  # B-26, B-35
    session = start()
    session.run("echo kept > ~/file; touch /tmp/boot")
    made = session.ask("state")["sandbox"]
    session.end()
    # the lease runs out; a person's word makes it do so now
    assert server.api("POST", "/sandboxes/%s/timeout" % made, {"timeout": 0})[0] == 204
    until(lambda: [s["state"] for s in sandboxes(server)] == ["paused"])
    session = start()
    assert session.run("cat ~/file") == "kept\n"
    assert session.ask("state")["sandbox"] == made


def test_a_pause_under_a_living_session(server, start):  # B-31, B-35
    session = start()
    session.run("echo kept > ~/file; sleep 1000 >/dev/null 2>&1 &")
    made = session.ask("state")["sandbox"]
    assert server.api("POST", "/sandboxes/%s/pause" % made, {"memory": False})[0] == 204
    answer = session.ask("run", text="cat ~/file; pgrep -fx 'sleep 1000'")
    assert answer["output"] == "kept\n"
    assert answer["sandbox"] == made and answer["generation"] == 2
    assert answer["role"] == "holding"
    assert server.api("GET", "/sandboxes/" + made)[2]["state"] == "running"


def test_the_servers_restart(start_server, start, tmp_path):  # FB-12
    server = start_server("restarted")
    session = start(where=server)
    session.run("echo kept > ~/file")
    made = session.ask("state")["sandbox"]
    session.end()
    server.stop()
    server = start_server("restarted")
    session = start(where=server)
    assert session.run("cat ~/file") == "kept\n"
    assert session.ask("state")["sandbox"] == made


def test_a_bring_up_that_nobody_waits_for(start):  # B-64, B-116
    """What was interrupted lets the locks go: its server accepts, and never answers."""
    from hermes_e2b import _native

    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = "http://127.0.0.1:%d" % silent.getsockname()[1]
        options = {"api_key": "key", "api_url": address, "sandbox_url": address}
        session = _native.Session(options, {}, str(start.home), "task")
        waiter = session.prepare(0)
        asked, _ = silent.accept()  # for the list, so the locks are held
        assert not lease_is_free(start.home, session.scope)
        del waiter
        until(lambda: lease_is_free(start.home, session.scope))
        asked.close()
        closing = session.close()
        while not closing.wait(1000):
            pass
