"""e2b-local as a program: its start, its end, its state folder."""
import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from local_server import DEADLINE, program, until


def run(*arguments):
    return subprocess.run([program(), *arguments], capture_output=True, text=True, timeout=DEADLINE)


@pytest.mark.parametrize("arguments, code, words", [
    (["--host", "0.0.0.0"], 2, "loopback"),
    (["--host", "192.0.2.1"], 2, "loopback"),
    (["--port", "http"], 2, "--port"),
    (["--frobnicate"], 2, "--frobnicate"),
    (["frobnicate"], 2, "frobnicate"),
    (["env", "--state", "/nonexistent"], 7, "no e2b-local runs"),
    (["--state", "/proc/nothing"], 5, "/proc/nothing"),
])
def test_a_refusal_is_one_line_with_a_code_of_its_own(arguments, code, words):
    result = run(*arguments)
    assert result.returncode == code, result
    assert result.stdout == ""
    last = result.stderr.splitlines()[-1]
    assert last.startswith("e2b-local: error: ") and words in last


def test_help_and_version():
    assert "usage: e2b-local" in run("--help").stdout
    assert run("--version").stdout.startswith("e2b-local ")


def test_a_port_in_use(start_server, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = run("--port", str(taken.getsockname()[1]), "--state", str(tmp_path / "other"))
    assert result.returncode == 6
    assert "--port 0" in result.stderr


def test_two_servers_on_one_folder(start_server):
    server = start_server()
    result = run("--port", "0", "--state", server.state)
    assert result.returncode == 4
    assert "another e2b-local" in result.stderr
    assert server.api("GET", "/v2/sandboxes")[0] == 200


def test_env_names_the_running_server(start_server):
    server = start_server()
    assert server.environment == {"E2B_API_URL": server.url, "E2B_SANDBOX_URL": server.url,
                                  "E2B_API_KEY": server.key}
    assert server.key.startswith("e2b_") and len(server.key) == 44
    assert os.stat(server.state).st_mode & 0o77 == 0
    assert os.stat(server.state + "/key").st_mode & 0o777 == 0o600
    server.stop()
    assert run("env", "--state", server.state).returncode == 7


def test_ipv6(start_server):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError as error:
        pytest.skip("no IPv6 loopback on this machine: %s" % error)
    server = start_server("six", "--host", "::1")
    assert server.url.startswith("http://[::1]:")
    assert server.api("GET", "/v2/sandboxes")[0] == 200


def test_other_templates_are_named_at_start(start_server):
    server = start_server("state", "--template", "mine")
    assert server.create(templateID="mine").made["templateID"] == "mine"
    assert server.api("POST", "/sandboxes", {"templateID": "other"})[0] == 404


def test_without_isolation_it_says_so(start_server):
    """The flag's name says what it does; a pause then keeps the files alone."""
    server = start_server("state", "--unsafely-without-isolation")
    assert "NO ISOLATION" in server.log_text()
    sandbox = server.create()
    assert sandbox.run("id -u").strip() == str(os.getuid())
    sandbox.write("kept", b"data")
    assert server.api("POST", "/sandboxes/%s/pause" % sandbox.id, {})[0] == 204
    assert "its memory is not kept" in server.log_text()
    assert server.api("POST", "/sandboxes/%s/connect" % sandbox.id, {"timeout": 60})[0] == 201
    assert sandbox.request("GET", "/files?path=kept")[2] == b"data"


def test_a_folder_of_other_ids_is_refused(start_server):
    """Without isolation the files belong to the caller, else to ids of the sandbox's own."""
    server = start_server()
    server.stop()
    if Path(server.state + "/base-id").read_text() == "0\n":
        pytest.skip("single-id mode: sandboxes have the caller's own id")
    result = run("--port", "0", "--state", server.state, "--unsafely-without-isolation")
    assert result.returncode == 5 and "user ids" in result.stderr


def processes_of(marker):
    """Host processes whose command line holds the word."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if marker.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                pass
    return found


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_the_end_leaves_nothing_running(start_server, number):
    server = start_server()
    sandbox = server.create()
    marker = "3%09d" % os.getpid()
    stream = sandbox.start("trap '' TERM INT HUP; sleep %s & sleep %s" % (marker, marker))
    assert "start" in stream.event()
    until(lambda: len(processes_of(marker)) >= 2)
    code = server.stop(number)
    assert code == (-signal.SIGKILL if number == signal.SIGKILL else 0)
    until(lambda: not processes_of(marker), 5)
    stream.close()


def test_a_folder_without_a_record_is_swept(start_server):
    server = start_server()
    server.stop()
    os.makedirs(server.state + "/folders/istray/home/user")
    start_server()
    until(lambda: os.listdir(server.state + "/folders") == [])


def test_kill_removes_the_folder_however_deep(start_server):
    server = start_server()
    sandbox = server.create()
    sandbox.run("cd ~; for i in $(seq 300); do mkdir d; cd d; done; touch bottom; "
                "cd ~; chmod 0 d; ln -s / ~/root-of-the-host")
    assert server.api("DELETE", "/sandboxes/" + sandbox.id)[0] == 204
    until(lambda: os.listdir(server.state + "/folders") == [])
    assert os.path.isdir("/usr")
    assert os.listdir(server.state + "/records") == []
    assert os.listdir(server.state + "/run") == []


def test_the_server_rests_when_nobody_asks(start_server):
    """No polling: silent streams and waiting leases cost no CPU time."""
    server = start_server()
    sandbox = server.create()
    streams = [sandbox.start("echo up; sleep 60") for _ in range(20)]
    for stream in streams:
        while "data" not in stream.event():
            pass
    pid = server.process.pid

    def ticks():
        fields = Path("/proc/%d/stat" % pid).read_text().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    before = ticks()
    # the command is the clock here
    sandbox.run("sleep 2")
    assert ticks() - before <= 5
    for stream in streams:
        stream.close()

