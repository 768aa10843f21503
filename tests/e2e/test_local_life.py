"""The life of a sandbox of e2b-local: what each call sees in the middle of a step, and when a lease
ends (wire A.5, A.8 to A.13). A step is held open by stopping the process that keeps the sandbox."""
import contextlib
import datetime
import os
import re
import signal
import threading
import time
from pathlib import Path

import pytest
from local_server import CUT, DEADLINE, until

NEVER = "i00000000000000000000"
FILES_ONLY = {"autoPause": True, "autoPauseMemory": False}


def parsed(stamp):
    """A time of the wire; Python's parser wants at most six digits."""
    whole, _, fraction = stamp.rstrip("Z").partition(".")
    return datetime.datetime.fromisoformat("%s.%s+00:00" % (whole, (fraction + "000000")[:6]))


def now():
    return datetime.datetime.now(datetime.timezone.utc)


@pytest.fixture
def own(start_server):
    """A server of the test's own: what keeps its one sandbox is known then."""
    return start_server()


def keepers(server):
    """The processes that keep the server's sandboxes: its children, while it deletes no folder."""
    pid = server.process.pid
    return [int(word) for word in Path("/proc/%d/task/%d/children" % (pid, pid)).read_text().split()]


class Held:
    """While it lasts, the server's sandboxes neither end nor get further in their start."""

    def __init__(self, server):
        self.pids = keepers(server)
        assert self.pids

    def __enter__(self):
        for pid in self.pids:
            os.kill(pid, signal.SIGSTOP)
        return self

    def __exit__(self, *_):
        for pid in self.pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


class Asked:
    """A call that goes on in a thread of its own; entering waits until the server has read it."""

    def __init__(self, server, method, path, value=None):
        line = "%s %s\n" % (method, path)
        before = server.log_text().count(line)
        self.answer = None
        self.thread = threading.Thread(target=self.run, args=(server, method, path, value))
        self.thread.start()
        until(lambda: server.log_text().count(line) > before)
        # its body came with its head; what is answered later was read later
        server.request("GET", "/health")

    def run(self, *call):
        # the server may be killed meanwhile
        with contextlib.suppress(ConnectionError):
            self.answer = call[0].api(*call[1:])

    @property
    def waits(self):
        return self.thread.is_alive()

    def result(self):
        self.thread.join(DEADLINE)
        assert not self.waits
        return self.answer


def call(server, sandbox, verb, value=None):
    return server.api("POST", "/sandboxes/%s/%s" % (sandbox.id, verb), value if value is not None else {})


def asked(server, sandbox, verb, value=None):
    return Asked(server, "POST", "/sandboxes/%s/%s" % (sandbox.id, verb), value if value is not None else {})


def listed(server, query=""):
    return [item["sandboxID"] for item in server.api("GET", "/v2/sandboxes" + query)[2]]


# ---- while it is being paused (A.5) --------------------------------------------------------------


def test_while_it_is_being_paused(own):
    sandbox = own.create()
    begun = now()
    with Held(own):
        pause = asked(own, sandbox, "pause", {"memory": False})
        assert sandbox.detail()["state"] == "paused"
        assert listed(own, "?state=paused") == [sandbox.id]
        assert listed(own, "?state=running") == []
        assert sandbox.request("GET", "/health")[0] == 502
        # the lease ends at once: its end is the time of the pause (A.7, A.10)
        ended = parsed(sandbox.detail()["endAt"])
        assert begun - datetime.timedelta(seconds=1) < ended < now() + datetime.timedelta(seconds=1)
        status, _, error = call(own, sandbox, "timeout", {"timeout": 60})
        assert (status, error["message"]) == (409, "Sandbox \"%s\" is being paused" % sandbox.id)
        assert call(own, sandbox, "refreshes", {"duration": 60})[0] == 409
        again = asked(own, sandbox, "pause", {"memory": False})
        assert pause.waits and again.waits
    assert pause.result()[0] == again.result()[0] == 204
    assert sandbox.detail()["state"] == "paused"
    assert parsed(sandbox.detail()["endAt"]) == ended


def test_connects_wait_for_the_pause_and_join_one_start(own):
    """A.8: one start, however many ask for it; each gets the same sandbox."""
    sandbox = own.create(secure=True, metadata={"a": "b"})
    sandbox.write("kept", b"data")
    with Held(own):
        pause = asked(own, sandbox, "pause", {"memory": False})
        connects = [asked(own, sandbox, "connect", {"timeout": 100 + n}) for n in range(6)]
        old = asked(own, sandbox, "resume", {"timeout": 60})
        assert all(c.waits for c in connects) and old.waits
    assert pause.result()[0] == 204
    answers = [c.result() for c in connects]
    assert {status for status, _, _ in answers} <= {200, 201}
    assert 201 in [status for status, _, _ in answers]
    assert all(made == sandbox.made for _, _, made in answers)
    assert old.result()[0] == 201
    assert own.log_text().count("sandbox %s runs" % sandbox.id) == 2
    assert sandbox.request("GET", "/files?path=kept")[2] == b"data"
    # the longest of the leases that were asked for
    detail = sandbox.detail()
    lease = parsed(detail["endAt"]) - parsed(detail["startedAt"])
    assert 104 < lease.total_seconds() < 106


def test_a_cold_boot_that_comes_too_late(own):
    """A.8: it has to begin before the lease that was asked for is over."""
    sandbox = own.create()
    with Held(own):
        pause = asked(own, sandbox, "pause", {"memory": False})
        end = time.monotonic() + 1
        connect = asked(own, sandbox, "connect", {"timeout": 1})
        until(lambda: time.monotonic() > end + 0.2)
    assert pause.result()[0] == 204
    status, _, error = connect.result()
    assert status == 500 and error["error_code"] == "sandbox_create_failed"
    assert sandbox.detail()["state"] == "paused"
    assert call(own, sandbox, "connect", {"timeout": 60})[0] == 201


def test_a_kill_waits_for_the_pause(own):
    """A.9; who waits for the pause gets it, who comes for the sandbox finds it going."""
    sandbox = own.create()
    with Held(own):
        pause = asked(own, sandbox, "pause", {"memory": False})
        kills = [Asked(own, "DELETE", "/sandboxes/" + sandbox.id) for _ in range(2)]
        connect = asked(own, sandbox, "connect", {"timeout": 60})
        assert all(c.waits for c in (pause, connect, *kills))
        assert sandbox.detail()["state"] == "paused"
    assert pause.result()[0] == 204
    assert [kill.result()[0] for kill in kills] == [204, 204]
    assert connect.result()[0] in (404, 409)
    assert own.api("DELETE", "/sandboxes/" + sandbox.id)[0] == 404
    until(lambda: os.listdir(own.state + "/folders") == [])
    assert os.listdir(own.state + "/records") == []


def test_the_end_of_the_server_in_the_middle_of_a_pause(own, start_server):
    """What was asked to be paused is there after a restart, whatever its lease was."""
    sandbox = own.create(timeout=1)
    sandbox.write("kept", b"data")
    with Held(own):
        pause = asked(own, sandbox, "pause", {"memory": False})
        own.process.send_signal(signal.SIGKILL)
        own.process.wait(DEADLINE)
    pause.thread.join(DEADLINE)
    end = time.monotonic() + 1
    until(lambda: time.monotonic() > end)
    again = start_server()
    assert sandbox_of(again, sandbox).detail()["state"] == "paused"
    assert call(again, sandbox, "connect", {"timeout": 60})[0] == 201
    assert sandbox.request("GET", "/files?path=kept")[2] == b"data"


def sandbox_of(server, sandbox):
    sandbox.server = server
    return sandbox


# ---- while it is being killed ---------------------------------------------------------------------


def test_while_it_is_being_killed(own):
    sandbox = own.create()
    with Held(own):
        kill = Asked(own, "DELETE", "/sandboxes/" + sandbox.id)
        assert own.api("GET", "/sandboxes/" + sandbox.id)[0] == 404
        assert listed(own) == []
        assert sandbox.request("GET", "/health")[0] == 502
        for version in ("", "/v2"):
            status, _, error = own.api("POST", "%s/sandboxes/%s/connect" % (version, sandbox.id), {"timeout": 60})
            assert (status, error["message"]) == (409, "Sandbox \"%s\" is being killed" % sandbox.id)
        status, _, error = call(own, sandbox, "timeout", {"timeout": 60})
        assert (status, error["message"]) == (409, "Sandbox \"%s\" is being killed" % sandbox.id)
        # A.10: it cannot be paused in this state
        assert call(own, sandbox, "pause", {"memory": False})[0] == 409
        assert call(own, sandbox, "resume")[0] == 404
        again = Asked(own, "DELETE", "/sandboxes/" + sandbox.id)
        assert kill.waits and again.waits
    assert kill.result()[0] == again.result()[0] == 204
    assert call(own, sandbox, "connect", {"timeout": 60})[0] == 404


# ---- while it starts again --------------------------------------------------------------------------


def test_while_it_starts_again(own):
    """Not running yet: shown as paused; who connects joins, who kills is obeyed."""
    sandbox = own.create(**FILES_ONLY)
    assert call(own, sandbox, "pause", {"memory": False})[0] == 204
    paused = sandbox.detail()
    assert keepers(own) == []
    stopper = threading.Thread(target=stop_the_next_keeper, args=(own,))
    stopper.start()
    connect = asked(own, sandbox, "connect", {"timeout": 60})
    stopper.join()
    assert connect.waits
    with Held(own):
        detail = sandbox.detail()
        assert detail["state"] == "paused"
        assert (detail["startedAt"], detail["endAt"]) == (paused["startedAt"], paused["endAt"])
        assert listed(own, "?state=paused") == [sandbox.id]
        assert call(own, sandbox, "timeout", {"timeout": 60})[0] == 404
        assert call(own, sandbox, "pause")[0] == 409
        joined = asked(own, sandbox, "connect", {"timeout": 90})
        assert joined.waits
    assert connect.result()[0] == 201
    assert joined.result()[0] in (200, 201)


def stop_the_next_keeper(server):
    """A start takes tens of milliseconds: there is no time to wait between two looks."""
    end = time.monotonic() + DEADLINE
    while not keepers(server):
        assert time.monotonic() < end
    for pid in keepers(server):
        os.kill(pid, signal.SIGSTOP)


def test_a_start_that_fails_changes_nothing(own):
    sandbox = own.create(metadata={"a": "b"})
    assert call(own, sandbox, "pause", {"memory": False})[0] == 204
    before = sandbox.detail()
    folder = Path(own.state) / "folders" / sandbox.id
    away = folder.with_name(".away")
    folder.rename(away)
    for _ in range(2):
        status, _, error = call(own, sandbox, "connect", {"timeout": 60})
        assert status == 500 and error["error_code"] == "sandbox_create_failed"
    assert sandbox.detail() == before
    away.rename(folder)
    # and one that fails after it has begun
    (folder / "home").rename(folder / "elsewhere")
    assert call(own, sandbox, "connect", {"timeout": 60})[0] == 500
    assert sandbox.detail() == before
    (folder / "elsewhere").rename(folder / "home")
    assert call(own, sandbox, "connect", {"timeout": 60})[0] == 201


# ---- the order of checks (A.8) ----------------------------------------------------------------------


@pytest.mark.parametrize("sandbox_id", ["NO-GOOD-ID", NEVER])
@pytest.mark.parametrize("verb, value, words", [
    ("connect", {"timeout": "x"}, "validation error: "),
    ("connect", {"timeout": 90000}, "Timeout cannot be greater than 24 hours"),
    ("connect", {"timeout": 60, "memory": 1}, "validation error: "),
    ("resume", {"timeout": 90000}, "Timeout cannot be greater than 24 hours"),
    ("pause", {"memory": 1}, "validation error: "),
    ("timeout", {}, "validation error: "),
    ("timeout", {"timeout": -1}, "validation error: "),
    ("refreshes", {"duration": 3601}, "validation error: "),
])
def test_the_body_is_looked_at_before_the_id(server, sandbox_id, verb, value, words):
    status, _, error = server.api("POST", "/sandboxes/%s/%s" % (sandbox_id, verb), value)
    assert status == 400 and error["message"].startswith(words)


@pytest.mark.parametrize("sandbox_id", ["NO-GOOD-ID", NEVER])
def test_an_unreadable_body_comes_first(server, sandbox_id):
    status, _, text = server.request("POST", "/sandboxes/%s/connect" % sandbox_id, b"{",
                                     {"X-API-Key": server.key})
    assert status == 400 and b"Error when parsing request" in text


def test_an_id_is_repeated_whole(server):
    long_id = "i" + "0" * 60
    error = server.api("GET", "/sandboxes/" + long_id)[2]
    assert error["message"] == "Sandbox \"%s\" doesn't exist or you don't have access to it" % long_id


# ---- the plan's maximum (A.8, A.11) -------------------------------------------------------------------


def test_the_plan_maximum_is_an_option(start_server):
    server = start_server("state", "--max-lease", "2h")
    for method, path in (("POST", "/sandboxes"), ("POST", "/sandboxes/%s/connect" % NEVER),
                         ("POST", "/sandboxes/%s/resume" % NEVER)):
        status, _, error = server.api(method, path, {"templateID": "base", "timeout": 7201})
        assert (status, error["message"]) == (400, "Timeout cannot be greater than 2 hours")
    sandbox = server.create(timeout=7200)
    # clamped without an error: this run may be 2 h old at most
    assert call(server, sandbox, "timeout", {"timeout": 100000})[0] == 204
    detail = sandbox.detail()
    longest = parsed(detail["startedAt"]) + datetime.timedelta(hours=2)
    assert abs((parsed(detail["endAt"]) - longest).total_seconds()) < 0.1
    assert call(server, sandbox, "timeout", {"timeout": 60})[0] == 204
    for verb, value in (("connect", {"timeout": 7200}), ("refreshes", {"duration": 3600})):
        assert call(server, sandbox, verb, value)[0] in (200, 204)
        assert (parsed(sandbox.detail()["endAt"]) - longest).total_seconds() < 0.1


def test_no_run_is_older_than_the_maximum(start_server):
    """A.8: age counts from the start of this run; a pause and a resume begin a new one."""
    server = start_server("state", "--max-lease", "2s")
    sandbox = server.create(timeout=1, **FILES_ONLY)
    begun = time.monotonic()
    stream = sandbox.start("sleep 1000")
    assert "start" in stream.event()
    connects = 0

    def extend():
        nonlocal connects
        answer = call(server, sandbox, "connect", {"timeout": 2})
        connects += answer[0] == 200
        return answer if answer[0] != 200 else None

    status, _, error = until(extend)
    age = time.monotonic() - begun
    # either the very moment of the end is met, or what comes after it
    assert (status, error.get("message")) == (400, "Max instance length exceeded") or status in (201, 409)
    assert connects > 1 and 1.9 < age < 2.2
    with pytest.raises(CUT):
        list(stream)
    stream.close()


# ---- leases (A.13) ------------------------------------------------------------------------------------


@pytest.mark.parametrize("members, state", [
    pytest.param({}, None, id="kill"), pytest.param(FILES_ONLY, "paused", id="files"),
    pytest.param({"autoPause": True}, "paused", id="memory")])
def test_a_lease_ends_within_100_ms(server, members, state):
    """By a clock that does not jump: seen from outside, as the cut of a stream."""
    sandbox = server.create(**members)
    stream = sandbox.start("sleep 1000")
    assert "start" in stream.event()
    sent = time.monotonic()
    assert call(server, sandbox, "timeout", {"timeout": 1})[0] == 204
    answered = time.monotonic()
    with pytest.raises(CUT):
        list(stream)
    cut = time.monotonic()
    stream.close()
    # the lease begins between the two
    assert cut >= sent + 1
    assert cut <= answered + 1 + 0.1
    assert sandbox.request("GET", "/health")[0] == 502
    if state is None:
        until(lambda: server.api("GET", "/sandboxes/" + sandbox.id)[0] == 404)
    else:
        until(lambda: sandbox.detail()["state"] == state)
    server.api("DELETE", "/sandboxes/" + sandbox.id)


def test_leases_end_in_time_while_many_sandboxes_are_made(own):
    """One who asks for forty sandboxes at once does not keep the leases of others waiting."""
    boxes = [own.create() for _ in range(4)]
    streams = [box.start("sleep 1000") for box in boxes]
    for stream in streams:
        assert "start" in stream.event()
    cuts = {}

    def watch(n):
        with contextlib.suppress(*CUT):
            list(streams[n])
        cuts[n] = time.monotonic()

    watchers = [threading.Thread(target=watch, args=(n,)) for n in range(4)]
    for watcher in watchers:
        watcher.start()
    ends = []
    for box in boxes:
        assert call(own, box, "timeout", {"timeout": 1})[0] == 204
        ends.append(time.monotonic() + 1)
    until(lambda: time.monotonic() > ends[0] - 0.02)
    makers = [threading.Thread(target=own.create) for _ in range(40)]
    for maker in makers:
        maker.start()
    for thread in makers + watchers:
        thread.join(DEADLINE)
    late = [cuts[n] - ends[n] for n in range(4)]
    for stream in streams:
        stream.close()
    assert max(late) < 0.1, late


def test_a_connect_that_lands_first_wins(server):
    """A.13: expiry is looked at again when it is due."""
    sandbox = server.create(**FILES_ONLY)
    stream = sandbox.start("sleep 1.5; echo alive")
    assert "start" in stream.event()
    assert call(server, sandbox, "timeout", {"timeout": 1})[0] == 204
    assert call(server, sandbox, "connect", {"timeout": 60})[0] == 200
    assert [e for e in stream if "end" in e][0]["end"]["exited"] is True
    stream.close()
    server.api("DELETE", "/sandboxes/" + sandbox.id)


def test_a_connect_after_the_end_of_a_lease_resumes(server):
    """A.13: connect is always the right answer; 201 says that the processes are gone."""
    sandbox = server.create(**FILES_ONLY)
    stream = sandbox.start("sleep 1000")
    assert "start" in stream.event()
    assert call(server, sandbox, "timeout", {"timeout": 0})[0] == 204
    with pytest.raises(CUT):
        list(stream)
    stream.close()
    assert call(server, sandbox, "connect", {"timeout": 60})[0] == 201
    server.api("DELETE", "/sandboxes/" + sandbox.id)


def test_refreshes_only_extend(server, sandbox):
    assert call(server, sandbox, "timeout", {"timeout": 5})[0] == 204
    assert call(server, sandbox, "refreshes")[0] == 204
    left = (parsed(sandbox.detail()["endAt"]) - now()).total_seconds()
    assert 13 < left < 16
    assert call(server, sandbox, "refreshes", {"duration": 3600})[0] == 204
    end = sandbox.detail()["endAt"]
    assert call(server, sandbox, "refreshes", {"duration": 20})[0] == 204
    assert sandbox.detail()["endAt"] == end


# ---- a cold boot (A.8) -----------------------------------------------------------------------------------

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\n")
BOOT_ID = "cat /proc/sys/kernel/random/boot_id"


def test_a_cold_boot_can_be_told_from_inside(server):
    """A new boot id, nothing on a tmpfs, no process of before; the folders are there, owners too."""
    sandbox = server.create(secure=True)
    first = sandbox.run(BOOT_ID)
    assert UUID.fullmatch(first) and first != Path("/proc/sys/kernel/random/boot_id").read_text()
    assert sandbox.run(BOOT_ID) == first
    sandbox.run("echo disk > ~/disk; chmod 600 ~/disk; ln -s disk ~/link; echo gone > /tmp/gone; "
                "echo gone > /dev/shm/gone; (exec -a old-one sleep 1000) > /dev/null 2>&1 &")
    assert sandbox.run("pgrep -f '^old-one' | wc -l") == "1\n"
    assert call(server, sandbox, "pause", {"memory": False})[0] == 204
    assert call(server, sandbox, "connect", {"timeout": 60})[0] == 201
    second = sandbox.run(BOOT_ID)
    assert UUID.fullmatch(second) and second != first
    assert sandbox.run("cat ~/link; stat -c '%a %U' ~/disk; ls /tmp /dev/shm | grep -c gone || true; "
                       "pgrep -f '^old-one' | wc -l") == "disk\n600 user\n0\n0\n"
    server.api("DELETE", "/sandboxes/" + sandbox.id)


def test_a_pause_of_the_memory_is_no_boot(server):
    sandbox = server.create()
    first = sandbox.run("echo kept > /tmp/kept; " + BOOT_ID)
    assert call(server, sandbox, "pause", {"memory": True})[0] == 204
    assert call(server, sandbox, "connect", {"timeout": 60})[0] == 201
    assert sandbox.run("cat /tmp/kept; " + BOOT_ID) == "kept\n" + first
    server.api("DELETE", "/sandboxes/" + sandbox.id)


def test_the_boot_id_belongs_to_the_sandbox(server):
    """Nobody inside changes it, and two sandboxes have two."""
    boxes = [server.create(), server.create()]
    ids = {box.run(BOOT_ID) for box in boxes}
    assert len(ids) == 2
    path = "/proc/sys/kernel/random/boot_id"
    for command in ("echo x > %s" % path, "chmod 666 %s" % path, "umount %s" % path, "rm -f %s" % path):
        boxes[0].run("%s 2>/dev/null && exit 9 || true" % command)
    assert boxes[0].run(BOOT_ID) in ids
    for box in boxes:
        server.api("DELETE", "/sandboxes/" + box.id)


# ---- kill -------------------------------------------------------------------------------------------------


def test_a_kill_does_not_wait_for_its_folder_to_be_deleted(own):
    """Nor does anybody else: the folder of a killed sandbox is deleted beside the loop."""
    sandbox = own.create()
    other = own.create()
    sandbox.run("mkdir ~/many; cd ~/many; for d in $(seq 40); do mkdir $d; (cd $d; "
                "seq 1000 | xargs touch); done")
    begun = time.monotonic()
    assert own.api("DELETE", "/sandboxes/" + sandbox.id)[0] == 204
    assert own.api("GET", "/sandboxes/" + sandbox.id)[0] == 404
    slowest = 0
    folder = Path(own.state) / "folders"
    seen = 0
    while len(os.listdir(folder)) > 1:
        asked_at = time.monotonic()
        assert other.request("GET", "/health")[0] == 204
        slowest = max(slowest, time.monotonic() - asked_at)
        seen += 1
        assert time.monotonic() - begun < DEADLINE
    assert seen > 0 and slowest < 0.1, slowest
    assert os.listdir(folder) == [other.id]
