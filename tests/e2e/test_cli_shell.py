"""hermes-e2b shell: a person's terminal in a sandbox, under a real pseudo-terminal (B-31, B-41, B-42)."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pytest
from local_server import builddir, until

DEADLINE = 20
NOWHERE = "i0000000000000000000x"
LEFT = b"left; the shell goes on"


def environment_for(settings):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("E2B_") and "proxy" not in k.lower()}
    return {**kept, **settings, "TERM": "xterm"}


def own_terminal():
    # a shell in the background hands it on as ignored
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Person:
    """Somebody at a terminal in which the program runs."""

    def __init__(self, settings, *arguments, size=(24, 80)):
        self.master, self.slave = pty.openpty()
        self.resize(*size)
        self.before = termios.tcgetattr(self.slave)
        self.seen = b""
        self.process = subprocess.Popen(
            [builddir() / "hermes-e2b", "shell", *arguments], env=environment_for(settings),
            stdin=self.slave, stdout=self.slave, stderr=self.slave, start_new_session=True,
            preexec_fn=own_terminal)

    def resize(self, rows, cols):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def type(self, text):
        os.write(self.master, text if isinstance(text, bytes) else text.encode())

    def is_raw(self):
        return not termios.tcgetattr(self.slave)[3] & (termios.ICANON | termios.ECHO | termios.ISIG)

    def read_some(self, end):
        ready, _, _ = select.select([self.master], [], [], max(0, end - time.monotonic()))
        assert ready, ("not within the deadline", self.seen)
        self.seen += os.read(self.master, 65536)

    def see(self, pattern):
        """Reads until pattern is there, which is then behind us; gives the match."""
        end = time.monotonic() + DEADLINE
        while not (found := re.search(pattern, self.seen)):
            self.read_some(end)
        self.seen = self.seen[found.end():]
        return found

    def enter(self):
        """Waits for the shell's prompt."""
        self.see(rb"leaves, and ends nothing there\r\n")
        # what is computed there cannot be its own echo
        self.type("echo at $((40 + 2)) home\r")
        # at the prompt behind it: a Ctrl-D that comes before is not the shell's
        self.see(rb"(?s)at 42 home\r\n.*?[$#] ")
        assert self.is_raw()

    def answer(self, command):
        """What a command's output says between two marks."""
        self.type("echo be''gin; %s; echo fi''nish\r" % command)
        return self.see(rb"begin\r\n((?s:.*?))\r?\n?finish").group(1).decode().strip()

    def code(self):
        """The exit code; the terminal must be as it was. Reads on: a full terminal holds its writer."""
        end = time.monotonic() + DEADLINE
        while self.process.poll() is None:
            if select.select([self.master], [], [], 0.02)[0]:
                self.read_some(end)
            assert time.monotonic() < end, self.seen
        while select.select([self.master], [], [], 0)[0]:
            self.read_some(end)
        assert termios.tcgetattr(self.slave) == self.before
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.slave)
        os.close(self.master)


@pytest.fixture
def local(server):
    """The server, with nothing on it."""
    server.kill_all()
    yield server.environment
    server.kill_all()


@pytest.fixture
def person(local):
    """Starts the program for persons that leave with the test: person(*arguments)."""
    came = []

    def come(*arguments, settings=local, **options):
        came.append(Person(settings, *arguments, **options))
        return came[-1]

    yield come
    for one in came:
        one.close()


@pytest.fixture
def made(server, local):
    return server.create(secure=True, metadata={"hermes_plugin": "e2b-terminal"})


def run(settings, *arguments, stdin=subprocess.DEVNULL):
    return subprocess.run([builddir() / "hermes-e2b", *arguments], env=environment_for(settings),
                          stdin=stdin, capture_output=True, text=True, timeout=DEADLINE)


def running(sandbox, word):
    """How many processes in the sandbox have this word, but for the one that looks."""
    return int(sandbox.run("grep -lxzs '[%s]%s' /proc/[0-9]*/cmdline | wc -l" % (word[0], word[1:])))


# ---- the shell ----


def test_the_shells_own_code(person, made):
    me = person(made.id)
    me.enter()
    me.type("exit 7\r")
    assert me.code() == 7


def test_ctrl_d_ends_it(person, made):
    me = person(made.id)
    me.enter()
    me.type("\x04")
    assert me.code() == 0


def test_ctrl_c_goes_to_what_runs_there_and_not_to_the_shell(person, made):
    me = person(made.id)
    me.enter()
    before = me.answer("echo $$")
    me.type("sleep 98765\r")
    until(lambda: running(made, "98765") == 1)
    me.type("\x03")
    me.type("echo co''de $?\r")
    me.see(rb"code 130\r\n")
    assert me.answer("echo $$") == before
    assert running(made, "98765") == 0 and me.process.poll() is None


def test_it_is_a_terminal_of_the_same_kind(person, made):
    me = person(made.id)
    me.enter()
    assert "/dev/pts/" in me.answer("tty")
    assert me.answer("echo $TERM") == "xterm"


def test_window_size_at_the_start_and_later(person, made):
    me = person(made.id, size=(33, 101))
    me.enter()
    assert me.answer("stty size") == "33 101"
    # the last of many counts, and is told although another was on its way
    for rows in range(20, 40):
        me.resize(rows, 90)
    me.resize(41, 120)
    assert until(lambda: me.answer("stty size") == "41 120")


def test_child_in_the_background_does_not_hold_it_up(person, made):  # B-42
    me = person(made.id)
    me.enter()
    me.type("sleep 98764 &\r")
    until(lambda: running(made, "98764") == 1)
    me.type("exit 3\r")
    assert me.code() == 3
    assert running(made, "98764") == 1


def test_all_bytes_both_ways(person, made):
    me = person(made.id)
    me.enter()
    me.type("stty raw -echo; echo go''on; head -c 255 | od -An -v -tu1; stty sane\r")
    me.see(rb"goon\r?\n")
    # Ctrl-C, Ctrl-D, Ctrl-Z, ~ and bytes that are no UTF-8
    me.type(bytes(range(1, 256)))
    numbers = me.see(rb"(?s)( +1 +2 +3.* 255)\r?\n").group(1).split()
    assert [int(n) for n in numbers] == list(range(1, 256))


def test_a_paste_of_more_than_a_terminal_holds(person, made):
    me = person(made.id)
    me.enter()
    me.type("stty -echo; echo go''on; cat > paste; md5sum paste; stty echo\r")
    me.see(rb"goon\r?\n")
    lines = b"".join(b"%06d of a long paste with some words in it\n" % i for i in range(3000))
    rest = lines.replace(b"\n", b"\r") + b"\x04"
    while rest:
        ready = select.select([me.master], [me.master], [], DEADLINE)
        if ready[0]:
            me.read_some(time.monotonic() + DEADLINE)
        if ready[1]:
            rest = rest[os.write(me.master, rest[:512]):]
    me.see(rb"[0-9a-f]{32}  paste")
    assert made.run("cat paste").encode() == lines


def test_much_output_is_whole_and_the_code_too(person, made):
    me = person(made.id)
    me.enter()
    # what is typed before the prompt is echoed twice
    me.type("echo be''gin; seq 1 200000; exit 9\r")
    me.see(rb"begin\r\n")
    assert me.code() == 9
    numbers = re.findall(rb"(\d+)\r\n", me.seen)
    assert [int(n) for n in numbers] == list(range(1, 200001))


def test_person_who_does_not_read(person, made):
    """The output waits, and what is typed gets through all the same."""
    me = person(made.id)
    me.enter()
    me.type("yes\r")
    until(lambda: running(made, "yes") == 1)

    def stands_still():
        """Nothing takes what it writes: the count is the same as at the look before."""
        counts.append(made.run("grep wchar /proc/$(pgrep -x yes)/io"))
        return counts[-1] == counts[-2]

    counts = [""]
    until(stands_still)
    me.type("\x03")
    until(lambda: running(made, "yes") == 0)
    me.type("exit 6\r")
    assert me.code() == 6


# ---- leaving ----


def test_leaving_ends_nothing(person, made):
    other = made.start("exec sleep 98763")
    me = person(made.id)
    me.enter()
    pid = me.answer("echo $PPID")
    me.type("sleep 98762\r")
    until(lambda: running(made, "98762") == 1)
    me.type("\x03")
    me.type("sleep 98761\r~.")
    assert me.code() == 0
    assert LEFT in me.seen and made.id.encode() in me.seen and pid.encode() in me.seen
    # what was typed before has got there, and goes on
    until(lambda: running(made, "98761") == 1)
    assert running(made, "98763") == 1
    assert made.detail()["state"] == "running"
    # what the message says ends the shell
    hint = re.search(rb"hermes-e2b (run -s \S+) '(kill -HUP \d+)'", me.seen)
    assert run(made.server.environment, *hint.group(1).decode().split(), hint.group(2).decode()).returncode == 0
    until(lambda: running(made, "98761") == 0)
    assert running(made, "98763") == 1
    other.close()


def test_tilde_is_an_escape_at_the_start_of_a_line_only(person, made):
    me = person(made.id)
    me.enter()
    assert me.answer("echo a~.b") == "a~.b"
    me.type("~~/x\r")
    me.see(rb"~/x")
    me.see(rb"(not found|No such file|Is a directory).*\r\n")
    assert me.answer("echo on") == "on"
    me.type("~?")
    me.see(rb"~\.  leave; .*\r\n  ~~ .*\r\n  ~\? .*\r\n")
    me.type("~")
    me.type("~.")
    # that was a typed "~."
    me.type("\x15")
    assert me.answer("echo on") == "on"
    me.type("~")
    me.type(".")
    assert me.code() == 0


def test_leaving_a_connection_that_stands_still(person, start_server):
    server = start_server()
    made = server.create(secure=True)
    me = person(made.id, settings=server.environment)
    me.enter()
    server.process.send_signal(signal.SIGSTOP)
    try:
        me.type("lost\r~.")
        me.see(rb"still on its way; ~\. once more leaves at once\r\n")
        assert me.process.poll() is None
        me.type("~.")
        assert me.code() == 0
        assert LEFT in me.seen
    finally:
        server.process.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signals_restore_the_terminal(person, made, number):
    me = person(made.id)
    me.enter()
    me.process.send_signal(number)
    assert me.code() == 128 + number
    assert LEFT in me.seen


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGQUIT])
def test_a_crash_restores_the_terminal(person, made, number):
    if "--with-sanitizers" in (builddir() / "config.log").read_text(errors="replace"):
        pytest.skip("the sanitizers have handlers of their own")
    me = person(made.id)
    me.enter()
    me.process.send_signal(number)
    assert me.code() == -number


def test_being_stopped_gives_the_terminal_back(person, made):
    me = person(made.id)
    me.enter()
    me.process.send_signal(signal.SIGTSTP)
    until(lambda: termios.tcgetattr(me.slave) == me.before)
    until(lambda: "\nState:\tT" in open("/proc/%d/status" % me.process.pid).read())
    me.resize(30, 70)
    me.process.send_signal(signal.SIGCONT)
    until(me.is_raw)
    assert until(lambda: me.answer("stty size") == "30 70")
    me.type("exit\r")
    assert me.code() == 0


def test_terminal_that_goes_away(person, made):
    me = person(made.id)
    me.enter()
    os.close(me.slave)
    os.close(me.master)
    assert me.process.wait(DEADLINE) == 128 + signal.SIGHUP
    me.master, me.slave = pty.openpty()
    assert made.detail()["state"] == "running"


# ---- loss ----


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_server_that_ends(person, start_server, number):
    server = start_server()
    made = server.create(secure=True)
    me = person(made.id, settings=server.environment)
    me.enter()
    server.stop(number)
    assert me.code() == 255
    assert b"connection was lost" in me.seen and b"cannot be reached" in me.seen, me.seen


@pytest.mark.parametrize("how", ["kill", "pause"])
def test_sandbox_that_ends(person, server, made, how):
    me = person(made.id)
    me.enter()
    if how == "kill":
        server.api("DELETE", "/sandboxes/" + made.id)
    else:
        server.api("POST", "/sandboxes/%s/pause" % made.id, {})
    assert me.code() == 255
    assert b"the sandbox does not run any more" in me.seen, me.seen
    # to look on is not worth waking it (B-31)
    if how == "pause":
        assert made.detail()["state"] == "paused"


def test_shell_that_is_killed(person, made):  # B-41
    me = person(made.id)
    me.enter()
    made.run("kill -KILL %s" % me.answer("echo $$"))
    assert me.code() == 137


# ---- which sandbox ----


def test_the_only_one_that_runs(person, server, made):
    paused = server.create(metadata={"hermes_plugin": "e2b-terminal"}, autoPause=True)
    assert server.api("POST", "/sandboxes/%s/pause" % paused.id, {})[0] == 204
    server.create()  # not this product's
    me = person()
    me.see(rb"in %s" % made.id.encode())
    me.type("exit 4\r")
    assert me.code() == 4
    assert paused.detail()["state"] == "paused"


def test_one_of_several(person, server, made):
    other = server.create(metadata={"hermes_plugin": "e2b-terminal"})
    me = person()
    assert me.code() == 1
    for word in (made.id, other.id, "ID", "shell ID"):
        assert word.encode() in me.seen, me.seen


def test_none(person):
    me = person()
    assert me.code() == 1
    assert b"no sandbox of hermes-e2b or its plugin runs" in me.seen


def test_a_paused_one_is_woken_by_its_id(person, server):
    made = server.create(metadata={"hermes_plugin": "e2b-terminal"}, autoPause=True)
    made.write("/home/user/kept", b"still here")
    assert server.api("POST", "/sandboxes/%s/pause" % made.id, {})[0] == 204
    me = person(made.id)
    me.enter()
    assert me.answer("cat kept") == "still here"
    me.type("exit\r")
    assert me.code() == 0


def test_lease_is_extended_never_shortened(person, server, local):  # B-31
    short = server.create(timeout=60)
    long = server.create(timeout=3000)
    ends = {one.id: one.detail()["endAt"] for one in (short, long)}
    for one in (short, long):
        me = person(one.id)
        me.enter()
        me.type("exit\r")
        assert me.code() == 0
    assert short.detail()["endAt"] > ends[short.id]
    assert long.detail()["endAt"] == ends[long.id]


def test_unknown_one(person):
    me = person(NOWHERE)
    assert me.code() == 1
    assert b"hermes-e2b: " in me.seen


# ---- the command line ----


def test_no_terminal(local, made):
    for stdin in (subprocess.DEVNULL, subprocess.PIPE):
        ran = run(local, "shell", made.id, stdin=stdin)
        assert ran.returncode == 125 and ran.stdout == ""
        assert ran.stderr.count("\n") == 1 and "no terminal" in ran.stderr and "run -s" in ran.stderr


@pytest.mark.parametrize("arguments", [["a", "b"], ["--no-such"], ["Not-An-Id!"]])
def test_command_line_that_makes_no_sense(person, arguments):
    me = person(*arguments)
    assert me.code() == 125
    assert me.seen.count(b"\n") == 1 and me.seen.startswith(b"hermes-e2b: "), me.seen


def test_help():
    ran = run({}, "shell", "--help")
    assert ran.returncode == 0
    for word in ("~.", "~~", "~?", "Ctrl-C", "255"):
        assert word in ran.stdout
    assert "shell" in run({}, "--help").stdout
