"""hermes-e2b as a person at a shell meets it, against e2b-local and against what is no E2B server."""

import contextlib
import http.server
import json
import os
import pathlib
import pty
import select
import signal
import socket
import subprocess
import threading
import time
import urllib.request

import pytest

KEY = "e2b_00112233445566778899aabbccddeeff00112233"
DEADLINE = 60
MIB = 1024 * 1024


def program():
    return str(pathlib.Path(os.environ["HE2B_BUILDDIR"]) / "hermes-e2b")


def environment_for(settings):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("E2B_") and "proxy" not in k.lower()}
    return {**kept, **settings}


def run(settings, *arguments, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    if "input" in options:
        del options["stdin"]
    return subprocess.run(
        [program(), *arguments],
        env=environment_for(settings),
        capture_output=True,
        timeout=DEADLINE,
        **options,
    )


def start(settings, *arguments, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen(
        [program(), *arguments],
        env=environment_for(settings),
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        **options,
    )


def until(condition):
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, condition
        select.select([], [], [], 0.01)


def api(settings, method, path, value=None):
    request = urllib.request.Request(
        settings["E2B_API_URL"] + path,
        method=method,
        data=None if value is None else json.dumps(value).encode(),
        headers={"X-API-Key": settings["E2B_API_KEY"], "Content-Type": "application/json"},
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=DEADLINE) as answer:
        text = answer.read()
    return json.loads(text) if text else None


def sandboxes(settings):
    return {item["sandboxID"] for item in api(settings, "GET", "/v2/sandboxes")}


@pytest.fixture
def local(server):
    """What to export for the server; whatever a test makes with it must be gone at its end."""
    settings = dict(server.environment)
    before = sandboxes(settings)
    yield settings
    assert sandboxes(settings) == before


@pytest.fixture
def made(local):
    """A sandbox that is there already."""
    body = {"templateID": "base", "timeout": 300, "secure": True}
    sandbox = api(local, "POST", "/sandboxes", body)["sandboxID"]
    yield sandbox
    api(local, "DELETE", "/sandboxes/" + sandbox)


# ---- a command ----


def test_output_in_order_and_code(local):
    ran = run(local, "run", "--", "echo out; echo err >&2; exit 7")
    assert (ran.stdout, ran.stderr, ran.returncode) == (b"out\nerr\n", b"", 7)


def test_death_by_signal(local):  # B-41
    ran = run(local, "run", "--", "echo last; kill -9 $$")
    assert (ran.stdout, ran.stderr, ran.returncode) == (b"last\n", b"", 137)


def test_codes_that_look_like_ours(local):  # FB-46
    for code in (124, 125, 126, 127, 130, 255):
        ran = run(local, "run", "--", "exit %d" % code)
        assert (ran.stdout, ran.stderr, ran.returncode) == (b"", b"", code)


def test_words_are_joined_as_ssh_does(local):
    ran = run(local, "run", "echo", "-n", "a  b", "$((6 * 7))")
    assert ran.stdout == b"a b 42"


def test_every_byte_passes(local):  # B-40, FB-19
    script = "for i in $(seq 0 255); do printf \"\\\\x$(printf %x $i)\"; done"
    assert run(local, "run", "--", script).stdout == bytes(range(256))


def test_no_input_unless_asked_for(local):  # B-45
    ran = run(local, "run", "--", "cat; echo end", input=b"not for it")
    assert ran.stdout == b"end\n"


def test_input_of_any_bytes(local):  # B-45
    data = os.urandom(3 * MIB)
    ran = run(local, "run", "-i", "--", "cat", input=data)
    assert ran.stdout == data and ran.returncode == 0


def test_input_that_is_not_read(local):  # B-45
    ran = run(local, "run", "--stdin", "--", "exit 3", input=os.urandom(3 * MIB))
    assert (ran.stdout, ran.stderr, ran.returncode) == (b"", b"", 3)


def test_empty_input(local):
    assert run(local, "run", "-i", "--", "wc -c", input=b"").stdout.strip() == b"0"


def test_output_comes_while_it_runs(local):  # B-40
    process = start(local, "run", "--", "echo first; sleep 1000")
    assert process.stdout.readline() == b"first\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(DEADLINE) == 143


def test_child_in_the_background(local):  # B-42
    began = time.monotonic()
    ran = run(local, "run", "--", "sleep 1000 & echo started")
    assert (ran.stdout, ran.returncode) == (b"started\n", 0)
    assert time.monotonic() - began < 20


def test_directory_and_login(local):
    assert run(local, "run", "--cwd", "/tmp", "--", "pwd").stdout == b"/tmp\n"
    ran = run(local, "run", "--cwd=/nowhere", "--", "pwd")
    assert ran.stdout == b"/home/user\n"
    assert b"warning" in ran.stderr and b"/nowhere" in ran.stderr
    assert run(local, "run", "-l", "--", "shopt -q login_shell; echo $?").stdout == b"0\n"


def test_runs_elsewhere(local):  # B-103
    ran = run(local, "run", "--", "hostname; echo $E2B_API_KEY; id -un; echo $HOME")
    name, key, user, home = ran.stdout.decode().split("\n")[:4]
    assert name != socket.gethostname() and key == ""
    assert (user, home) == ("user", "/home/user")


def test_sandbox_that_is_there(local, made):
    assert run(local, "run", "-s", made, "--", "echo mine > file").returncode == 0
    assert run(local, "run", "--sandbox", made, "--", "cat file").stdout == b"mine\n"
    assert made in sandboxes(local)


# ---- ends ----


def comms(local, sandbox):
    ran = run(local, "run", "-s", sandbox, "--", "cat /proc/[0-9]*/comm 2>/dev/null")
    return ran.stdout.decode().split("\n")


def test_limit(local, made):  # B-43
    began = time.monotonic()
    ran = run(
        local, "run", "--timeout", "1", "-s", made, "--",
        "trap '' TERM; tail -f /dev/null & echo go; tail -f /dev/null",
    )
    assert (ran.stdout, ran.returncode) == (b"go\n", 124)
    assert time.monotonic() - began < 8
    assert ran.stderr.count(b"\n") == 1 and b"limit of 1 s" in ran.stderr
    assert "tail" not in comms(local, made)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_command_and_sandbox(local, number):
    process = start(local, "run", "--", "echo go; exec sleep 1000")
    assert process.stdout.readline() == b"go\n"
    began = time.monotonic()
    process.send_signal(number)
    assert process.wait(DEADLINE) == 128 + number
    assert time.monotonic() - began < 8
    # the fixture looks that its sandbox is gone


def test_signal_ends_the_group_in_a_sandbox_that_stays(local, made):  # B-43
    process = start(local, "run", "-s", made, "--", "tail -f /dev/null & echo go; wait")
    assert process.stdout.readline() == b"go\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(DEADLINE) == 130
    assert "tail" not in comms(local, made)


def test_second_signal_leaves_at_once():
    """A server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = "http://127.0.0.1:%d" % silent.getsockname()[1]
        process = start({"E2B_API_URL": url, "E2B_API_KEY": KEY}, "run", "--", "true")
        connection, _ = silent.accept()
        assert connection.recv(4) == b"POST"
        process.send_signal(signal.SIGINT)
        assert b"once more" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(5) == 130
        assert b"left at once" in process.stderr.read()
        connection.close()


def test_nobody_reads_the_output(local):
    process = start(local, "run", "--", "yes")
    assert process.stdout.read(2) == b"y\n"
    process.stdout.close()
    assert process.wait(DEADLINE) == 141
    assert process.stderr.read() == b""


def test_full_disk(local):
    with open("/dev/full", "wb") as full:
        process = start(local, "run", "--", "echo out", stdout=full)
        assert process.wait(DEADLINE) == 255
    assert b"standard output: No space left" in process.stderr.read()


def read_count(process):
    text = pathlib.Path("/proc/%d/io" % process.pid).read_text()
    return int(dict(line.split(": ") for line in text.splitlines())["rchar"])


def stands_still(process):
    before = read_count(process)
    select.select([], [], [], 0.2)
    return read_count(process) == before


def test_slow_reader_and_bounded_memory(local):  # B-40
    total = 64 * MIB
    process = start(local, "run", "--", "head -c %d /dev/zero | tr '\\0' x" % total)
    got = len(process.stdout.read(MIB))
    until(lambda: stands_still(process))
    # stopped: what it has read is not much more than what was taken from it
    assert read_count(process) < 24 * MIB
    while got < total - MIB:
        piece = process.stdout.read(MIB)
        assert piece.count(b"x") == MIB
        got += MIB
    if not sanitized():
        assert peak_memory(process) < 24 * MIB
    got += len(process.stdout.read())
    assert (got, process.wait(DEADLINE)) == (total, 0)


def peak_memory(process):
    text = pathlib.Path("/proc/%d/status" % process.pid).read_text()
    return int(text.split("VmHWM:")[1].split()[0]) * 1024


def sanitized():
    return "--with-sanitizers" in (pathlib.Path(os.environ["HE2B_BUILDDIR"]) / "config.log").read_text(
        errors="replace"
    )


def test_ctrl_c_on_a_terminal(local):
    """As a person does it: the terminal sends the signal."""
    master, slave = pty.openpty()

    def own_terminal():
        import fcntl
        import termios

        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(
        [program(), "run", "--", "echo go; exec sleep 1000"],
        env=environment_for(local),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=own_terminal,
    )
    os.close(slave)
    seen = b""
    while b"go" not in seen:
        seen += os.read(master, 1000)
    os.write(master, b"\x03")
    # a terminal holds few bytes: read on, or its writer would wait
    with contextlib.suppress(OSError):
        while os.read(master, 1000):
            pass
    assert process.wait(DEADLINE) == 130
    os.close(master)


# ---- failures: one line, a code of its own, no secret ----


def check_failure(ran, *words):
    text = ran.stderr.decode()
    assert ran.returncode == 125, (ran.returncode, text)
    assert ran.stdout == b""
    assert text.count("\n") == 1 and text.startswith("hermes-e2b: "), text
    for word in words:
        assert word in text, text
    assert KEY not in text and KEY[4:] not in text


@contextlib.contextmanager
def answering(status, body, headers=()):
    """A server that always answers the same."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
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


def test_no_key():
    check_failure(
        run({"E2B_API_URL": "http://127.0.0.1:1"}, "run", "--", "x"),
        "no API key", "E2B_API_KEY", "https://e2b.dev/dashboard", "e2b-local env",
    )


def test_key_with_a_line_break_inside():
    ran = run({"E2B_API_KEY": KEY + "\r\nX: y"}, "run", "--", "x")
    check_failure(ran, "E2B_API_KEY")


@pytest.mark.parametrize("url", ["localhost:3000", "ftp://127.0.0.1", "nonsense"])
def test_url_that_is_none(url):
    check_failure(run({"E2B_API_KEY": KEY, "E2B_API_URL": url}, "run", "--", "x"), "E2B_API_URL")


def test_dead_server():
    with socket.create_server(("127.0.0.1", 0)) as gone:
        url = "http://127.0.0.1:%d" % gone.getsockname()[1]
    ran = run({"E2B_API_KEY": KEY, "E2B_API_URL": url}, "run", "--", "x")
    check_failure(ran, "create sandbox", "connect", "E2B_API_URL")


def test_name_that_is_unknown():
    ran = run({"E2B_API_KEY": KEY, "E2B_API_URL": "https://host.invalid"}, "run", "--", "x")
    check_failure(ran, "create sandbox", "host.invalid", "E2B_API_URL")


@pytest.mark.parametrize("status", [200, 201, 302, 403, 404, 500])
def test_html_answer(status):
    page = b"<html>\n<h1>Welcome to the hotel</h1>\x1b[2J</html>"
    with answering(status, page, [("Content-Type", "text/html"), ("Location", "/x")]) as settings:
        check_failure(run(settings, "run", "--", "x"), "create sandbox")


def test_wrong_key():
    answer = json.dumps({"code": 401, "message": "Invalid API key " + KEY}).encode()
    with answering(401, answer) as settings:
        check_failure(run(settings, "run", "--", "x"), "Invalid API key", "E2B_API_KEY")


def test_wrong_key_for_e2b_local(local):
    ran = run({**local, "E2B_API_KEY": KEY}, "run", "--", "x")
    check_failure(ran, "Invalid API key", "e2b-local env")


def test_unknown_template(local):
    check_failure(run(local, "run", "-t", "no-such", "--", "x"), "no-such", "template")


def test_unknown_sandbox(local):
    check_failure(run(local, "run", "-s", "i0000000000000000000x", "--", "x"), "connect to sandbox")
    check_failure(run(local, "run", "-s", "../x", "--", "x"), "no id of an E2B sandbox")


def test_command_longer_than_one_argument(local):  # B-46
    ran = run(local, "run", "--", ": " + "x" * 100000 + ";", ": " + "y" * 100000 + ";", "echo $#")
    assert (ran.returncode, ran.stdout) == (0, b"0\n")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["frobnicate"],
        ["run"],
        ["run", "--"],
        ["run", "--no-such", "x"],
        ["run", "--template"],
        ["run", "--timeout=soon", "x"],
        ["run", "--timeout=0", "x"],
        ["run", "--timeout=-1", "x"],
        ["run", "--timeout=nan", "x"],
        ["run", "-s", "abc", "-t", "base", "x"],
        ["bad\x1b[2Jword"],
    ],
)
def test_command_line_that_makes_no_sense(arguments):
    ran = run({"E2B_API_KEY": KEY}, *arguments)
    check_failure(ran)
    assert b"\x1b" not in ran.stderr


# ---- the rest ----


def test_help_and_version():
    ran = run({}, "--help")
    assert ran.returncode == 0 and ran.stderr == b""
    for word in (b"doctor", b"E2B_API_KEY", b"e2b-local env", b"125"):
        assert word in ran.stdout
    for word in (b"--timeout", b"--sandbox", b"124"):
        assert word in run({}, "run", "--help").stdout
    ran = run({}, "--version")
    assert ran.returncode == 0 and ran.stdout.startswith(b"hermes-e2b ")


def test_verbose_tells_the_steps_and_no_secret(local):
    ran = run(local, "run", "-v", "--", "true")
    text = ran.stderr.decode()
    assert ran.returncode == 0
    for word in ("created from template base", "CMD_STARTED", "killed", "LIFE_CLOSE"):
        assert word in text
    assert all(line.startswith("hermes-e2b: ") for line in text.splitlines())
    assert local["E2B_API_KEY"] not in text


def test_manual_lists_every_option():
    manual = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "hermes-e2b.1").read_text()
    helped = run({}, "--help").stdout + run({}, "run", "--help").stdout
    for line in helped.decode().splitlines():
        for word in line.split():
            if word.startswith("--") and len(word) > 2 and line.startswith("  "):
                assert word.split("=")[0].replace("-", "\\-") in manual, word
