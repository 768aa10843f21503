"""e2b-local started again on the folder of one that ended: which sandboxes it finds, and how."""
import datetime
import json
import os
import signal
import time
from pathlib import Path

import pytest
from local_server import until

FILES_ONLY = {"autoPause": True, "autoPauseMemory": False}
ENDS = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])


def parsed(stamp):
    """A time of the wire; Python's parser wants at most six digits."""
    whole, _, fraction = stamp.rstrip("Z").partition(".")
    return datetime.datetime.fromisoformat("%s.%s+00:00" % (whole, (fraction + "000000")[:6]))


def call(server, sandbox, verb, value):
    return server.api("POST", "/sandboxes/%s/%s" % (sandbox.id, verb), value)[0]


def found(server):
    return {item["sandboxID"]: item for item in server.api("GET", "/v2/sandboxes")[2]}


def pass_by(seconds):
    end = time.monotonic() + seconds
    until(lambda: time.monotonic() > end)


def restarted(start_server, server, number):
    server.stop(number)
    return start_server()


@ENDS
def test_every_sandbox_is_found_again(start_server, number):
    """Paused, with its id, token, metadata, policy and files; its processes are gone (A.8)."""
    server = start_server()
    secret = "never-on-the-disk"
    common = {"secure": True, "timeout": 300, "envVars": {"SECRET": secret}}
    boxes = {
        "files": server.create(**common, **FILES_ONLY, metadata={"n": "files", "é": "x y"}),
        "memory": server.create(**common, autoPause=True, autoResume={"enabled": True}, metadata={"n": "memory"}),
        "brief": server.create(**common, metadata={"n": "brief"}, allow_internet_access=False),
        "paused": server.create(**common, metadata={"n": "paused"}),
        "frozen": server.create(**common, metadata={"n": "frozen"}),
    }
    boots = {}
    for name, box in boxes.items():
        boots[name] = box.run("echo %s > ~/note; cat /proc/sys/kernel/random/boot_id" % name)
    assert call(server, boxes["paused"], "pause", {"memory": False}) == 204
    assert call(server, boxes["frozen"], "pause", {"memory": True}) == 204
    before = {name: box.detail() for name, box in boxes.items()}
    for record in (Path(server.state) / "records").iterdir():
        assert secret not in record.read_text()
    again = restarted(start_server, server, number)
    seen = found(again)
    assert set(seen) == {box.id for box in boxes.values()}
    for name, box in boxes.items():
        box.server = again
        detail = box.detail()
        for member in before[name]:
            if member not in ("state", "endAt"):
                assert detail[member] == before[name][member], (name, member)
        assert detail["state"] == "paused"
        # A.7: of a paused one, the time when its last pause began
        assert parsed(detail["startedAt"]) < parsed(detail["endAt"]) <= datetime.datetime.now(datetime.timezone.utc)
        if before[name]["state"] == "paused":
            assert detail["endAt"] == before[name]["endAt"]
        status, _, made = again.api("POST", "/sandboxes/%s/connect" % box.id, {"timeout": 60})
        assert (status, made) == (201, box.made)
        assert box.run("cat ~/note; echo \"[$SECRET]\"") == name + "\n[]\n"
        assert box.run("cat /proc/sys/kernel/random/boot_id") != boots[name]


@ENDS
def test_a_lease_that_ended_meanwhile(start_server, number):
    """What was to be killed at its end is gone, files and all; what was to be paused is paused."""
    server = start_server()
    gone = server.create(timeout=1)
    kept = server.create(timeout=1, **FILES_ONLY)
    rest = server.create(timeout=300)
    ends = parsed(kept.detail()["endAt"])
    server.stop(number)
    pass_by(1)
    again = start_server()
    assert set(found(again)) == {kept.id, rest.id}
    for method, verb in (("GET", ""), ("DELETE", ""), ("POST", "/connect")):
        assert again.api(method, "/sandboxes/" + gone.id + verb, {"timeout": 60})[0] == 404
    kept.server = again
    assert kept.detail()["state"] == "paused"
    assert parsed(kept.detail()["endAt"]) <= ends
    until(lambda: sorted(os.listdir(server.state + "/folders")) == sorted([kept.id, rest.id]))
    assert not (Path(server.state) / "records" / (gone.id + ".json")).exists()


@ENDS
def test_the_lease_of_what_is_to_be_killed_goes_on(start_server, number):
    """Found again it is paused, but not for ever: nobody asked for it to be kept."""
    server = start_server()
    sandbox = server.create(timeout=300)
    other = server.create(timeout=300)
    sent = time.monotonic()
    assert call(server, sandbox, "timeout", {"timeout": 3}) == 204
    answered = time.monotonic()
    again = restarted(start_server, server, number)
    again = restarted(start_server, again, number)
    assert set(found(again)) == {sandbox.id, other.id}
    assert time.monotonic() < sent + 3, "too slow a machine for this test"
    until(lambda: sandbox.id not in found(again))
    assert sent + 3 <= time.monotonic() <= answered + 3 + 0.2
    assert again.api("POST", "/sandboxes/%s/connect" % sandbox.id, {"timeout": 60})[0] == 404
    until(lambda: os.listdir(server.state + "/folders") == [other.id])
    # who connects in time has it again, on a lease of the usual kind
    other.server = again
    assert call(again, other, "connect", {"timeout": 1}) == 201
    assert other.detail()["state"] == "running"
    until(lambda: other.id not in found(again))


@ENDS
@pytest.mark.parametrize("first, verb, value, is_there", [
    (1, "timeout", {"timeout": 300}, True), (1, "connect", {"timeout": 300}, True),
    (1, "refreshes", {"duration": 300}, True), (300, "timeout", {"timeout": 1}, False)])
def test_a_lease_that_was_changed_counts(start_server, number, first, verb, value, is_there):
    server = start_server()
    sandbox = server.create(timeout=first)
    assert call(server, sandbox, verb, value) in (200, 204)
    server.stop(number)
    pass_by(1)
    assert (sandbox.id in found(start_server())) is is_there


def test_restarts_in_a_row_keep_it(start_server):
    server = start_server()
    sandbox = server.create(timeout=300)
    sandbox.write("count", b"0")
    for n in range(3):
        server = restarted(start_server, server, signal.SIGKILL)
        sandbox.server = server
        assert call(server, sandbox, "connect", {"timeout": 300}) == 201
        assert sandbox.request("GET", "/files?path=count")[2] == b"%d" % n
        sandbox.write("count", b"%d" % (n + 1))


def test_a_kill_is_not_forgotten(start_server):
    """Killed is killed, also for a server that is killed itself right afterwards."""
    server = start_server()
    boxes = [server.create(**FILES_ONLY) for _ in range(3)]
    assert call(server, boxes[1], "pause", {"memory": False}) == 204
    for box in boxes:
        assert server.api("DELETE", "/sandboxes/" + box.id)[0] == 204
    again = restarted(start_server, server, signal.SIGKILL)
    assert found(again) == {}
    until(lambda: os.listdir(server.state + "/folders") == [])


def spoil_member(name, value):
    def spoil(path):
        record = json.loads(path.read_text())
        if value is None:
            del record[name]
        else:
            record[name] = value
        path.write_text(json.dumps(record))
    return spoil


def spoil_by_folder(path):
    path.unlink()
    path.mkdir()


SPOILED = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-7]),
    "binary": lambda path: path.write_bytes(os.urandom(300)),
    "array": lambda path: path.write_bytes(b"[]"),
    "nested": lambda path: path.write_bytes(b"[" * 100000),
    "huge": lambda path: path.write_bytes(b"{\"a\":\"" + b"x" * 3000000 + b"\"}"),
    "unreadable": spoil_by_folder,
    "another's": spoil_member("sandboxID", "i11111111111111111111"),
    "no template": spoil_member("templateID", None),
    "no policy": spoil_member("autoPause", None),
    "word for bool": spoil_member("secure", "yes"),
    "metadata": spoil_member("metadata", {"a": 1}),
    "metadata list": spoil_member("metadata", ["a"]),
    "no start": spoil_member("startedAt", None),
    "negative end": spoil_member("endAt", -5),
}


def test_a_spoiled_record_costs_that_record_only(start_server):
    """It is told by name, its folder is left alone, and everybody else is there."""
    server = start_server()
    good = [server.create(timeout=300, **FILES_ONLY), server.create(timeout=300)]
    bad = {name: server.create(timeout=300, **FILES_ONLY, metadata={"n": "x"}) for name in SPOILED}
    server.stop()
    records = Path(server.state) / "records"
    for name, spoil in SPOILED.items():
        spoil(records / (bad[name].id + ".json"))
    # names that are no record's
    (records / "notes.txt").write_text("mine")
    (records / ".hidden.json").write_text("{}")
    before = server.log_text()
    again = start_server()
    assert set(found(again)) == {box.id for box in good}
    log = again.log_text()[len(before):]
    for name, box in bad.items():
        lines = [line for line in log.splitlines() if "warning" in line and box.id in line]
        assert len(lines) == 1 and "record" in lines[0], (name, lines)
        assert again.api("GET", "/sandboxes/" + box.id)[0] == 404
        assert (Path(server.state) / "folders" / box.id / "home" / "user").is_dir()
    for box in good:
        assert call(again, box, "connect", {"timeout": 60}) == 201
    # and once more: nothing of it was swept away meanwhile
    last = restarted(start_server, again, signal.SIGTERM)
    assert set(found(last)) == {box.id for box in good}
    for box in bad.values():
        assert (Path(server.state) / "folders" / box.id).is_dir()


def test_a_record_without_its_folder(start_server):
    server = start_server()
    sandbox = server.create(timeout=300, **FILES_ONLY)
    other = server.create(timeout=300, **FILES_ONLY)
    server.stop()
    folders = Path(server.state) / "folders"
    (folders / sandbox.id).rename(Path(server.state) / "away")
    again = start_server()
    status, _, error = again.api("POST", "/sandboxes/%s/connect" % sandbox.id, {"timeout": 60})
    assert status == 500 and error["error_code"] == "sandbox_create_failed" and "folder" in error["message"]
    assert call(again, other, "connect", {"timeout": 60}) == 201
    assert again.api("DELETE", "/sandboxes/" + sandbox.id)[0] == 204
