"""Looking after sandboxes from a shell: list, show, connect, pause, kill, doctor (B-21, B-31, B-60)."""

import contextlib
import fcntl
import http.server
import json
import os
import pathlib
import pty
import re
import select
import signal
import socket
import subprocess
import threading
import time

import pytest
from local_server import builddir

KEY = "e2b_00112233445566778899aabbccddeeff00112233"
SCOPE = "32c2fbc13a928d31de575b952ea485f4"
DEADLINE = 60
NOWHERE = "i0000000000000000000x"


def environment_for(settings):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("E2B_") and "proxy" not in k.lower()}
    return {**kept, **settings}


def run(settings, *arguments, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(
        [builddir() / "hermes-e2b", *arguments],
        env=environment_for(settings), capture_output=True, text=True, timeout=DEADLINE, **options)


def on_terminal(settings, answer, *arguments):
    """Runs it with a terminal as its input, as a person does; gives code, stdout, stderr."""
    master, slave = pty.openpty()
    try:
        process = subprocess.Popen(
            [builddir() / "hermes-e2b", *arguments], env=environment_for(settings), stdin=slave,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        os.write(master, answer)
        out, err = process.communicate(timeout=DEADLINE)
        return process.returncode, out, err
    finally:
        os.close(slave)
        os.close(master)


@pytest.fixture
def home(tmp_path):
    home = tmp_path / "hermes"
    home.mkdir()
    return home


@pytest.fixture
def local(server, home):
    """The server, with nothing on it, and a Hermes home of its own."""
    server.kill_all()
    yield {**server.environment, "HERMES_HOME": str(home)}
    server.kill_all()


def make(server, *, ours=True, scope=None, **metadata):
    if ours:
        metadata["hermes_plugin"] = "e2b-terminal"
    if scope:
        metadata["hermes_scope"] = scope
    return server.create(metadata=metadata, autoPause=bool(scope)).id


def states(server):
    return {item["sandboxID"]: item["state"] for item in server.api("GET", "/v2/sandboxes")[2]}


@contextlib.contextmanager
def held(home, scope):
    """A Hermes session on this host that is the scope's writer."""
    folder = home / "cache" / "e2b"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / (scope + ".writer.lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


@contextlib.contextmanager
def answering(status, body, headers=()):
    """A server that always answers the same."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *unused):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as web:
        thread = threading.Thread(target=web.serve_forever)
        thread.start()
        yield {"E2B_API_URL": "http://127.0.0.1:%d" % web.server_port, "E2B_API_KEY": KEY}
        web.shutdown()
        thread.join()


def one_line(ran):
    assert ran.stderr.count("\n") == 1 and ran.stderr.startswith("hermes-e2b: "), ran.stderr
    return ran.stderr


# ---- list and show ----


def test_list_of_nothing(local):
    ran = run(local, "list")
    assert (ran.returncode, ran.stdout) == (0, "") and "no such sandbox" in one_line(ran)
    ran = run(local, "list", "--json")
    assert (ran.returncode, json.loads(ran.stdout), ran.stderr) == (0, [], "")


def test_table(local, server):
    kept = make(server, scope=SCOPE)
    plain = make(server)
    make(server, ours=False)
    server.api("POST", "/sandboxes/%s/pause" % kept, {"memory": False})
    ran = run(local, "list")
    assert (ran.returncode, ran.stderr) == (0, "")
    title, *rows = ran.stdout.splitlines()
    assert title.split() == ["ID", "STATE", "STARTED", "LEASE", "TEMPLATE", "SCOPE"]
    assert {row.split()[0] for row in rows} == {kept, plain}
    cells = {row.split()[0]: re.split(r"  +", row) for row in rows}
    assert cells[kept][1] == "paused" and cells[kept][3] == "-" and cells[kept][5] == SCOPE
    assert cells[plain][1] == "running" and re.fullmatch(r"4m \d\ds|5m 00s", cells[plain][3])
    assert cells[plain][4] == "base" and cells[plain][5] == "-"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", cells[plain][2])
    # aligned: each column begins under its title
    for name in ("STATE", "STARTED", "LEASE", "TEMPLATE", "SCOPE"):
        at = title.index(name)
        assert all(row[at - 1] == " " and row[at] != " " for row in rows)


def test_list_by_state_and_as_json(local, server):
    kept = make(server, scope=SCOPE, note="gr\u00fc\u00df \U0001f600 \"quoted\"\\\n")
    plain = make(server)
    server.api("POST", "/sandboxes/%s/pause" % kept, {"memory": False})
    items = json.loads(run(local, "list", "--json").stdout)
    assert {item["id"]: item["state"] for item in items} == {kept: "paused", plain: "running"}
    assert items[0]["id"] == plain
    [item] = json.loads(run(local, "list", "--json", "--state=paused").stdout)
    assert item["scope"] == SCOPE and item["remaining_seconds"] is None and item["ours"] is True
    assert item["metadata"]["note"] == "gr\u00fc\u00df \U0001f600 \"quoted\"\\\n"
    [item] = json.loads(run(local, "list", "--state", "running", "--json").stdout)
    assert item["id"] == plain and 290 < item["remaining_seconds"] < 301
    assert run(local, "list", "--json", "--state=running").stdout.isascii()


def test_show(local, server):
    sandbox = make(server, scope=SCOPE, note="a\u202e\x1b[2Jb")
    ran = run(local, "show", sandbox)
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = dict(line.split(None, 1) for line in ran.stdout.splitlines() if "metadata" not in line)
    assert lines["id"] == sandbox and lines["state"] == "running" and lines["scope"] == SCOPE
    assert lines["ours"] == "yes"
    # B-100
    assert "metadata   note=a\\xE2\\x80\\xAE\\x1B[2Jb" in ran.stdout
    assert json.loads(run(local, "show", "--json", sandbox).stdout)["id"] == sandbox


def test_show_what_is_not_there(local):
    ran = run(local, "show", NOWHERE)
    assert (ran.returncode, ran.stdout) == (1, "") and NOWHERE in one_line(ran)
    ran = run(local, "show", "../../etc")
    assert ran.returncode == 125 and "no id of an E2B sandbox" in one_line(ran)


def test_server_that_lies_about_metadata():
    """B-21: what is not ours is not listed; B-100: what is said cannot drive the terminal."""
    items = [
        {"sandboxID": "iforeign", "state": "running", "metadata": {"a": "b"}},
        {"sandboxID": "iours", "state": "run\x1b[31mning", "templateID": "t\u202ex",
         "startedAt": "2026-08-22T10:00:00Z", "metadata": {"hermes_plugin": "e2b-terminal"}},
    ]
    with answering(200, json.dumps(items).encode()) as settings:
        ran = run(settings, "list")
    assert ran.returncode == 0
    assert "iforeign" not in ran.stdout and "iours" in ran.stdout
    assert "run\\x1B[31mning" in ran.stdout and "t\\xE2\\x80\\xAEx" in ran.stdout


@pytest.mark.parametrize("status, body", [
    (200, b"<html>Welcome to the hotel</html>"), (200, b"null"), (200, b"{}"), (404, b"not found"),
    (401, b'{"code":401,"message":"Invalid API key ' + KEY.encode() + b'"}')])
def test_list_that_cannot_be_had(status, body):
    with answering(status, body) as settings:
        ran = run(settings, "list", "--json")
    assert (ran.returncode, ran.stdout) == (125, "")
    assert "list sandboxes" in one_line(ran) and KEY not in ran.stderr


# ---- connect ----


def test_connect_extends_and_wakes(local, server):
    sandbox = make(server, scope=SCOPE)
    ran = run(local, "connect", sandbox, "--timeout=1000")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert re.fullmatch(sandbox + r" running, lease 16m \d\ds\n", ran.stdout)
    # never shortened (B-31)
    assert "16m" in run(local, "connect", sandbox, "--timeout=60").stdout
    server.api("POST", "/sandboxes/%s/pause" % sandbox, {"memory": False})
    assert run(local, "connect", sandbox).returncode == 0
    assert states(server) == {sandbox: "running"}
    ran = run(local, "connect", NOWHERE)
    assert ran.returncode == 1 and NOWHERE in one_line(ran)


# ---- kill and pause ----


def test_kill_and_pause(local, server):
    one, other, kept = make(server), make(server), make(server, scope=SCOPE)
    ran = run(local, "kill", "--yes", one, other)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"{one} killed\n{other} killed\n", "")
    ran = run(local, "pause", "-y", kept)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"{kept} paused\n", "")
    assert states(server) == {kept: "paused"}
    # paused already is fine
    assert run(local, "pause", "-y", kept).returncode == 0


def test_one_that_is_not_there_stops_no_other(local, server):
    sandbox = make(server)
    ran = run(local, "kill", "--yes", NOWHERE, sandbox)
    assert (ran.returncode, ran.stdout) == (1, f"{sandbox} killed\n")
    assert NOWHERE in one_line(ran)


@pytest.mark.parametrize("command, state", [("kill", None), ("pause", "paused")])
def test_it_asks_first(local, server, command, state):
    sandbox = make(server, scope=SCOPE)
    for answer in (b"\n", b"n\n", b"yesterday I would have said yes\n", b"\x04"):
        code, out, err = on_terminal(local, answer, command, sandbox)
        assert (code, out) == (1, ""), answer
        assert f"{command.capitalize()} sandbox {sandbox} (running)? [y/N] " in err
        assert "left as it is" in err
        assert states(server) == {sandbox: "running"}
    code, out, _ = on_terminal(local, b"y\n", command, sandbox)
    assert (code, out) == (0, f"{sandbox} {'killed' if state is None else 'paused'}\n")
    assert states(server).get(sandbox) == state


def test_each_is_asked_for(local, server):
    one, other = make(server), make(server)
    code, out, _ = on_terminal(local, b"n\nyes\n", "kill", one, other)
    assert (code, out) == (1, f"{other} killed\n")
    assert states(server) == {one: "running"}


@pytest.mark.parametrize("command", ["kill", "pause"])
def test_without_a_terminal_and_yes(local, server, command):
    sandbox = make(server)
    ran = run(local, command, sandbox)
    assert (ran.returncode, ran.stdout) == (1, "") and "--yes" in one_line(ran)
    ran = run(local, command, "--force", sandbox)
    assert ran.returncode == 1 and "--yes" in one_line(ran)
    assert states(server) == {sandbox: "running"}


def test_what_is_not_ours(local, server):
    sandbox = make(server, ours=False, hermes_scope=SCOPE)
    ran = run(local, "kill", "-y", sandbox)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "did not make it" in one_line(ran) and "--force" in ran.stderr
    assert states(server) == {sandbox: "running"}
    assert run(local, "kill", "-y", "--force", sandbox).returncode == 0
    assert states(server) == {}


@pytest.mark.parametrize("command", ["kill", "pause"])
def test_while_a_session_writes(local, server, home, command):  # B-60
    sandbox = make(server, scope=SCOPE)
    with held(home, SCOPE):
        ran = run(local, command, "-y", sandbox)
        assert (ran.returncode, ran.stdout) == (1, "")
        assert "Hermes session" in one_line(ran) and "--force" in ran.stderr
        assert states(server) == {sandbox: "running"}
        # an ephemeral one, and another scope's, have another writer
        assert run(local, "kill", "-y", make(server), make(server, scope="f" * 32)).returncode == 0
        assert run(local, command, "-y", "-f", sandbox).returncode == 0
    assert states(server).get(sandbox) != "running"


def test_the_look_leaves_nothing(local, server, home):
    """Neither a file nor a lock: the next session finds what it would have found."""
    assert run(local, "kill", "-y", make(server, scope=SCOPE)).returncode == 0
    assert list(home.iterdir()) == []
    with held(home, SCOPE):
        pass
    assert run(local, "kill", "-y", make(server, scope=SCOPE)).returncode == 0
    assert [entry.name for entry in (home / "cache/e2b").iterdir()] == [SCOPE + ".writer.lock"]
    with held(home, SCOPE):
        pass


def test_scope_that_would_lead_out(local, server, home, tmp_path):  # B-12
    (tmp_path / "x.writer.lock").write_text("mine")
    assert run(local, "kill", "-y", make(server, scope="../../../x")).returncode == 0
    assert (tmp_path / "x.writer.lock").read_text() == "mine"


def test_default_home(local, server, tmp_path):
    settings = {k: v for k, v in local.items() if k != "HERMES_HOME"}
    sandbox = make(server, scope=SCOPE)
    with held(tmp_path / ".hermes", SCOPE):
        ran = run({**settings, "HOME": str(tmp_path), "HERMES_HOME": ""}, "kill", "-y", sandbox)
        assert ran.returncode == 1 and "Hermes session" in ran.stderr
    ran = run({**settings, "HERMES_HOME": "relative"}, "kill", "-y", sandbox)
    assert ran.returncode == 1 and "HERMES_HOME" in one_line(ran)


# ---- doctor ----


def rows(ran):
    return {line[6:14].strip(): (line[:4].strip(), line[16:]) for line in ran.stdout.splitlines()}


def test_doctor_of_what_is_well(local, server, home):
    make(server)
    ran = run(local, "doctor")
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout
    told = rows(ran)
    assert set(told) == {"library", "key", "endpoint", "CA file", "server", "home", "locks"}
    assert {state for state, _ in told.values()} == {"ok"}
    assert "1 sandbox of hermes-e2b" in told["server"][1]
    assert told["home"][1] == str(home)
    assert local["E2B_API_KEY"] not in ran.stdout and local["E2B_API_KEY"][8:] not in ran.stdout
    assert list(home.iterdir()) == []


def test_doctor_finds_each_trouble(local, tmp_path):
    def failing(**changes):
        ran = run({**local, **changes}, "doctor")
        assert ran.returncode == 1 and ran.stderr == ""
        assert local["E2B_API_KEY"] not in ran.stdout
        return {name: text for name, (state, text) in rows(ran).items() if state == "FAIL"}

    found = failing(E2B_API_KEY=" ")
    assert set(found) == {"key", "server"} and "not set" in found["key"]
    found = failing(E2B_API_KEY=KEY)
    assert set(found) == {"server"} and "Invalid API key" in found["server"]
    found = failing(E2B_API_KEY="e2b_a\nb")
    assert "control character" in found["key"]
    found = failing(E2B_API_URL="localhost:3000")
    assert "E2B_API_URL" in found["endpoint"]
    with socket.create_server(("127.0.0.1", 0)) as gone:
        url = "http://127.0.0.1:%d" % gone.getsockname()[1]
    assert "127.0.0.1" in failing(E2B_API_URL=url)["server"]
    file = tmp_path / "file"
    file.write_text("")
    assert "no folder" in failing(HERMES_HOME=str(file))["home"]
    assert "HERMES_HOME" in failing(HERMES_HOME="relative")["home"]
    found = failing(E2B_API_URL="https://host.invalid", SSL_CERT_FILE=str(tmp_path / "none.pem"))
    assert "none.pem" in found["CA file"]


def test_doctor_shows_no_password(local):
    ran = run({**local, "E2B_API_URL": "http://user:secret@127.0.0.1:1"}, "doctor")
    assert ran.returncode == 1 and "secret" not in ran.stdout and "127.0.0.1:1" in ran.stdout


def test_doctor_waits_only_so_long(local):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = "http://127.0.0.1:%d" % silent.getsockname()[1]
        began = time.monotonic()
        ran = run({**local, "E2B_API_URL": url}, "doctor")
        assert time.monotonic() - began < 20
    assert ran.returncode == 1 and "no answer within 5 s" in ran.stdout


# ---- the rest ----


@pytest.mark.parametrize("arguments", [
    ["list", "x"], ["list", "--state=lost"], ["list", "--no-such"], ["show"], ["show", "a", "b"],
    ["connect"], ["connect", "--timeout=soon", "x"], ["connect", "--timeout"], ["kill"], ["pause"],
    ["kill", "--maybe", "x"], ["doctor", "x"], ["doctor", "--no-such"]])
def test_command_line_that_makes_no_sense(arguments):
    ran = run({"E2B_API_KEY": KEY}, *arguments)
    assert (ran.returncode, ran.stdout) == (125, "")
    one_line(ran)


@pytest.mark.parametrize("command", ["list", "show", "connect", "kill", "pause", "doctor"])
def test_help(command):
    ran = run({}, command, "--help")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("Usage: hermes-e2b " + command) and "Exit code: 0" in ran.stdout
    manual = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "hermes-e2b.1").read_text()
    for option in re.findall(r"--[a-z]+", ran.stdout):
        assert option.replace("-", "\\-") in manual, option


def test_no_key():
    ran = run({"E2B_API_URL": "http://127.0.0.1:1"}, "list")
    assert ran.returncode == 125 and "E2B_API_KEY" in one_line(ran)


def test_full_disk(local):
    with open("/dev/full", "w") as full:
        process = subprocess.Popen([builddir() / "hermes-e2b", "list", "--json"],
                                   env=environment_for(local), stdout=full)
        assert process.wait(DEADLINE) == 125


def test_ctrl_c_while_it_waits():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = "http://127.0.0.1:%d" % silent.getsockname()[1]
        process = subprocess.Popen(
            [builddir() / "hermes-e2b", "list"], stderr=subprocess.PIPE,
            env=environment_for({"E2B_API_URL": url, "E2B_API_KEY": KEY}))
        connection, _ = silent.accept()
        assert select.select([connection], [], [], DEADLINE)[0]
        process.send_signal(signal.SIGINT)
        assert process.wait(5) == -signal.SIGINT
        connection.close()
        process.stderr.close()
