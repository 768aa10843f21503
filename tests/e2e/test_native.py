"""hermes_e2b._native by itself: what is awaited, in which order things may go, what is refused."""

import gc
import os
import signal
import subprocess
import sys
import textwrap

import pytest
from hermes_e2b import __version__, _native


@pytest.fixture
def session(server):
    options = {
        "api_key": server.key,
        "api_url": server.environment["E2B_API_URL"],
        "sandbox_url": server.environment["E2B_SANDBOX_URL"],
    }
    session = _native.Session(options)
    yield session
    closing = session.close()
    while not closing.wait(1000):
        pass


def run(session, text, **options):
    """Runs a command to its end; its output and the command."""
    command = session.command(text.encode(), **options)
    with os.fdopen(command.take_fd(), "rb") as pipe:
        output = pipe.read()
    while not command.wait(1000):
        pass
    return output, command


def test_a_warning_is_not_pushed_out(server):
    options = {
        "api_key": server.key,
        "api_url": server.environment["E2B_API_URL"],
        "sandbox_url": server.environment["E2B_SANDBOX_URL"],
        "cwd": "/nowhere",
    }
    session = _native.Session(options)
    for _ in range(100):  # each says several lines about the charts
        run(session, "true")
    log = session.take_log()
    assert len(log) >= 128
    assert [text for level, text in log if level == 30 and "/nowhere" in text]
    closing = session.close()
    while not closing.wait(1000):
        pass


def test_versions_agree():  # B-124
    assert _native.version == __version__


def test_nothing_is_known_before_the_first_command(session):  # B-20
    assert (session.state, session.sandbox_id, session.generation) == ("detached", "", 0)


def test_output_code_and_state(session):
    output, command = run(session, "echo out; echo err >&2; exit 7")
    assert (output, command.exit_code, command.outcome) == (b"out\nerr\n", 7, _native.ENDED)
    assert session.generation == 1 and session.home == "/home/user"
    assert command.failure is None


def test_every_byte_passes(session):  # B-40, FB-19
    script = "for i in $(seq 0 255); do printf \"\\\\x$(printf %x $i)\"; done"
    output, _ = run(session, script)
    assert output == bytes(range(256))


def test_stdin_of_any_bytes(session):  # B-45
    data = os.urandom(3 * 1024 * 1024)
    output, command = run(session, "cat", stdin=data)
    assert output == data
    assert command.stdin_failure is None


def test_stdin_that_is_not_read(session):  # B-45
    _, command = run(session, "exit 3", stdin=b"x" * 3_000_000)
    assert command.exit_code == 3


def test_the_limit(session):  # B-43
    _, command = run(session, "sleep 600", timeout_ms=500)
    assert (command.outcome, command.exit_code) == (_native.TIMED_OUT, 124)


def test_a_kill_ends_the_output_at_once(session):  # B-43, B-117
    command = session.command(b"echo begun; sleep 600")
    with os.fdopen(command.take_fd(), "rb") as pipe:
        assert pipe.readline() == b"begun\n"
        command.kill()
        assert pipe.read() == b""
    while not command.wait(1000):
        pass
    assert (command.outcome, command.exit_code) == (_native.KILLED, 130)


def test_a_reader_that_stops_stops_nothing_else(session):  # B-40
    stopped = session.command(b"head -c 50000000 /dev/zero; echo end")
    fd = stopped.take_fd()
    output, _ = run(session, "echo other")
    assert output == b"other\n"
    assert not stopped.wait(0)
    with os.fdopen(fd, "rb") as pipe:
        assert len(pipe.read()) == 50000000 + 4


def test_a_command_that_cannot_start_says_why(server):  # B-49
    session = _native.Session({"api_url": "http://127.0.0.1:9", "api_key": "some-key"})
    output, command = run(session, "echo ran")
    assert output == b""
    assert command.outcome == _native.NOT_STARTED
    assert command.failure["code"] == "HE2B_ERR_UNREACHABLE"


@pytest.mark.parametrize("options", [{"api_url": "ftp://x"}, {"no_such": "1"}, {"api_key": "a\nb"}])
def test_options_that_are_refused(options):
    with pytest.raises(ValueError):
        _native.Session(options)


def test_text_is_bytes(session):
    with pytest.raises(TypeError):
        session.command("text")


def test_any_order_of_the_end(session, server):
    """Objects go while commands run; what they started is ended, and nothing crashes."""
    command = session.command(b"sleep 600")
    waiter = session.prepare()
    del waiter
    gc.collect()
    del command
    gc.collect()
    other = _native.Session({"api_key": server.key, "api_url": server.environment["E2B_API_URL"],
                             "sandbox_url": server.environment["E2B_SANDBOX_URL"]})
    command = other.command(b"echo fine")
    del other
    gc.collect()
    with os.fdopen(command.take_fd(), "rb") as pipe:
        assert pipe.read() == b"fine\n"


def test_what_cannot_be_made_by_hand():
    for kind in (_native.Waiter, _native.Command):
        with pytest.raises(TypeError):
            kind()


def test_a_forked_child_is_refused(session):
    run(session, "true")
    pid = os.fork()
    if pid == 0:
        try:
            session.command(b"true")
        except RuntimeError:
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert run(session, "echo alive")[0] == b"alive\n"


def child(server, script):
    environment = {**os.environ, **server.environment}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment,
    )


SESSION = """
import os, sys
from hermes_e2b import _native
session = _native.Session({"api_key": os.environ["E2B_API_KEY"],
    "api_url": os.environ["E2B_API_URL"], "sandbox_url": os.environ["E2B_SANDBOX_URL"]})
"""


def test_ctrl_c_is_heard_while_waiting(server):
    process = child(server, SESSION + textwrap.dedent("""
        command = session.command(b"echo begun; sleep 600")
        pipe = os.fdopen(command.take_fd(), "rb")
        pipe.readline()
        try:
            print("begun", flush=True)
            while not command.wait(60000):
                pass
        except KeyboardInterrupt:
            print("heard", flush=True)
    """))
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    assert "heard" in process.communicate(timeout=70)[0]
    assert process.returncode == 0


def test_a_process_exits_while_a_command_runs(server):  # B-96
    process = child(server, SESSION + textwrap.dedent("""
        command = session.command(b"echo begun; sleep 600")
        os.fdopen(command.take_fd(), "rb").readline()
        print("leaving")
    """))
    assert process.communicate(timeout=60)[0] == "leaving\n"
    assert process.returncode == 0
    server.kill_all()


def test_the_import_again_is_another_module_and_the_same_loop(server):
    process = child(server, SESSION + textwrap.dedent("""
        del sys.modules["hermes_e2b._native"], sys.modules["hermes_e2b"]
        from hermes_e2b import _native as again
        assert again is not _native
        other = again.Session({})
        print(other.state, session.state)
    """))
    assert process.communicate(timeout=60)[0] == "detached detached\n"
    assert process.returncode == 0
