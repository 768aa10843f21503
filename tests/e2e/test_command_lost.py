"""Commands whose connection is cut, against real processes: nothing runs twice, nothing is lost without
a word (B-41, B-44, B-47, B-48)."""
import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import pytest
from cutting_proxy import Cut, CuttingProxy
from hermes_e2b import _native
from local_server import Sandbox, until

CODE = 3


@pytest.fixture
def proxy(server):
    proxy = CuttingProxy(server)
    yield proxy
    proxy.close()


@pytest.fixture
def start_session(server):
    sessions = []

    def start(url, **options):
        sessions.append(_native.Session({
            "api_key": server.key, "api_url": server.environment["E2B_API_URL"],
            "sandbox_url": url, **options}))
        return sessions[-1]

    yield start
    for session in sessions:
        closing = session.close()
        while not closing.wait(1000):
            pass


@pytest.fixture
def session(start_session, proxy):
    return start_session(proxy.url)


def finish(command):
    with os.fdopen(command.take_fd(), "rb") as pipe:
        output = pipe.read()
    while not command.wait(1000):
        pass
    return output, command


def run(session, text, **options):
    return finish(session.command(text.encode() if isinstance(text, str) else text, **options))


def counting(mark, more=""):
    """Leaves one byte for each time that it runs."""
    return "printf x >>/tmp/ran.%s; echo out; %s exit %d" % (mark, more, CODE)


def counts(session):
    """How often each ran."""
    output, _ = run(session, "cd /tmp; for f in ran.*; do [ -e $f ] && echo $f $(wc -c <$f); done; true")
    return {line.split()[0][4:]: int(line.split()[1]) for line in output.decode().splitlines()}


# ---- every byte ----


def check(mark, cut, output, command, ran, whole):
    """whole: the output of one that was not cut."""
    told = (mark, cut.way, cut.at, output, command.outcome, command.exit_code, command.failure)
    assert ran.get(mark, 0) == 1, told
    if cut.way == "up" and cut.at < cut.up:     # it never began, so the repeat is all there is
        assert (output, command.outcome, command.exit_code) == (whole, _native.ENDED, CODE), told
    elif command.outcome == _native.ENDED:
        assert (output, command.exit_code) == (whole, CODE), told
    else:
        assert (command.outcome, command.exit_code) == (_native.INCOMPLETE, 255), told
        assert str(CODE) in command.failure["cause"], told


def cut_everywhere(session, proxy, text, whole, ups, downs, **options):
    """Runs text(mark), which has its mark in it, with each cut."""
    size = Cut()
    proxy.cuts["mark-00000"] = size
    output, command = run(session, text("mark-00000"), **options)
    assert (output, command.exit_code) == (whole, CODE) and size.up and size.down
    cuts = [Cut("up", at, bool(n % 2)) for n, at in enumerate([*ups(size.up), size.up])]
    cuts += [Cut("down", at, bool(n % 2)) for n, at in enumerate(downs(size.down))]
    marks = {"mark-%05d" % n: cut for n, cut in enumerate(cuts, 1)}
    proxy.cuts.update(marks)
    with ThreadPoolExecutor(8) as pool:
        ended = list(pool.map(lambda mark: run(session, text(mark), **options), marks))
    ran = counts(session)
    for (mark, cut), (output, command) in zip(marks.items(), ended):
        check(mark, cut, output, command, ran, whole)
    outcomes = {command.outcome for _, command in ended}
    assert outcomes == {_native.ENDED, _native.INCOMPLETE}


def test_every_cut(session, proxy):  # B-47: from the first byte sent to the last received
    cut_everywhere(session, proxy, counting, b"out\n",
                   lambda size: range(0, size, 5), lambda size: range(1, size), timeout_ms=60000)


def test_cuts_with_stdin(session, proxy):  # B-45
    cut_everywhere(session, proxy, lambda mark: counting(mark, "cat;"), b"out\ninput\n",
                   lambda size: range(0, size, 97), lambda size: range(1, size, 3),
                   stdin=b"input\n")


def test_cuts_of_a_large_text(session, proxy):
    """By file (B-46): its Start is small, and has no mark but the text's path. So a mark is a part of
    what both share."""
    text = b"#" + b"x" * 200_000 + b"\n" + counting("large").encode()
    for n, (way, at) in enumerate([("up", 0), ("up", 700), ("down", 1), ("down", 150)], 1):
        cut = Cut(way, at, bool(n % 2))
        proxy.cuts = {"/text.": cut}
        output, command = run(session, text)
        assert cut.taken.is_set()
        assert counts(session)["large"] == n
        if way == "up":
            assert (output, command.exit_code) == (b"out\n", CODE)
        else:
            assert command.outcome == _native.INCOMPLETE


# ---- a Start that arrives late ----


def test_first_comes_after_the_repeat(session, proxy):
    proxy.cuts["late"] = late = Cut(late=True)
    output, command = run(session, counting("late"))
    assert (output, command.outcome, command.exit_code) == (b"out\n", _native.ENDED, CODE)
    late.release()
    assert late.answered.wait(30)
    assert counts(session)["late"] == 1


def test_first_comes_after_a_kill(session, proxy):
    """What was interrupted before anybody knew whether it began never begins."""
    run(session, "true")
    proxy.cuts["late"] = late = Cut(late=True)
    proxy.hold_asks()
    command = session.command(counting("late").encode())
    assert late.taken.wait(30)
    proxy.asked()
    command.kill()
    proxy.let_asks()
    finish(command)
    assert (command.outcome, command.exit_code, command.failure) == (_native.KILLED, 130, None)
    late.release()
    assert late.answered.wait(30)
    assert "late" not in counts(session)


def reboot(server, session):
    """A cold boot of the session's sandbox."""
    path = "/sandboxes/" + session.sandbox_id
    assert server.api("POST", path + "/pause", {"memory": False})[0] == 204
    assert server.api("POST", path + "/connect", {"timeout": 300})[0] == 201


def test_boot_between_start_and_repeat(server, start_session, proxy):
    """Nobody knows what the first did in the boot that is over, and what the disk has kept of it:
    here it has kept the folder of the records, but not this one."""
    session = start_session(proxy.url, secure="false")
    folder = run(session, "echo /tmp/.hermes-e2b-*/*-*-*-*-*")[0].decode().strip()
    proxy.cuts["first"] = Cut("up", 0)
    proxy.cuts["second"] = repeat = Cut(stall=True)
    command = session.command(counting("first").encode() + b" # second")
    assert repeat.taken.wait(30)
    reboot(server, session)
    Sandbox(server, {"sandboxID": session.sandbox_id}).run(
        "mkdir -p %s && touch %s/all-recorded" % (folder, folder))
    repeat.release()
    finish(command)
    assert (command.outcome, command.exit_code) == (_native.UNKNOWN, 255)
    assert "first" not in counts(session)


def test_boot_before_the_question(server, session, proxy):
    """It ran in a boot that is over."""
    run(session, "true")
    proxy.hold_asks()
    proxy.cuts["running"] = cut = Cut("down", 1)
    command = session.command(counting("running", "sleep 600;").encode())
    assert cut.taken.wait(30)
    proxy.asked()
    reboot(server, session)
    proxy.let_asks()
    finish(command)
    assert (command.outcome, command.exit_code) == (_native.UNKNOWN, 255)
    assert counts(session).get("running", 0) <= 1


# ---- a stream that is lost ----


def test_found_again(session, proxy):
    """B-48, FB-07: each time the network changes; what comes then comes, and a word is said."""
    command = session.command(b"printf x >>/tmp/ran.found; cd /tmp; mkfifo one two; echo begun; "
                              b"read a <one; echo $a; read a <two; echo $a; exit 4")
    with os.fdopen(command.take_fd(), "rb") as pipe:
        assert pipe.readline() == b"begun\n"
        for n, name in enumerate(["one", "two"], 1):
            proxy.break_all()
            until(lambda n=n: proxy.attached == n)
            run(session, "echo %s >/tmp/%s" % (name, name))
            assert pipe.readline() == name.encode() + b"\n"
        assert pipe.read() == b""
    while not command.wait(1000):
        pass
    assert (command.outcome, command.exit_code) == (_native.INCOMPLETE, 255)
    assert "its own exit code was 4" in command.failure["cause"]
    assert counts(session)["found"] == 1


def test_ended_meanwhile(session, proxy):
    command = session.command(b"cd /tmp; mkfifo go; echo begun; read a <go; echo lost; exit 4")
    with os.fdopen(command.take_fd(), "rb") as pipe:
        assert pipe.readline() == b"begun\n"
        proxy.hold_asks()
        proxy.break_all()
        proxy.asked()
        run(session, "echo >/tmp/go")
        until(lambda: b"ended 4" in run(session, "cat /tmp/.hermes-e2b-*/*/*")[0])
        proxy.let_asks()
        assert pipe.read() == b""
    while not command.wait(1000):
        pass
    assert (command.outcome, command.exit_code) == (_native.INCOMPLETE, 255)
    assert "its record in the sandbox says that it ended with 4" in command.failure["cause"]


@pytest.mark.parametrize("end, says", [
    (lambda server, path: server.api("DELETE", path), "the control plane knows it no more"),
    (lambda server, path: server.api("POST", path + "/pause", {"memory": False}),
     "the control plane says that it is paused"),
])
def test_sandbox_is_gone(server, session, end, says):  # B-48, FB-06
    run(session, "true")
    command = session.command(b"echo begun; sleep 600")
    with os.fdopen(command.take_fd(), "rb") as pipe:
        assert pipe.readline() == b"begun\n"
        assert end(server, "/sandboxes/" + session.sandbox_id)[0] == 204
        assert pipe.read() == b""
    while not command.wait(1000):
        pass
    assert (command.outcome, command.exit_code) == (_native.UNKNOWN, 255)
    assert command.failure["code"] == "HE2B_ERR_GONE" and says in command.failure["cause"]


# ---- the watchdog ----

# Our own watchdogs and their sleepers, and what runs under a name; not the shell that looks.
WATCHDOGS = "ps -e -o pid= -o args= | grep '[h]ermes-e2b-watch-[0-9a-f]\\{16\\}\\|^ *[0-9]* [s]leep'"


def test_no_process_is_left(session):  # B-44
    with ThreadPoolExecutor(16) as pool:
        ended = list(pool.map(lambda n: run(session, "exit 5", timeout_ms=500_000), range(200)))
    assert {command.exit_code for _, command in ended} == {5}
    until(lambda: run(session, WATCHDOGS)[0] == b"")


def test_child_outlives_the_limit(session):
    """B-42, B-44: a server in the background logs on after the limit; nobody hears of it."""
    text = ("(while :; do echo log; cut -d. -f1 /proc/uptime >>/tmp/log; sleep 0.2; done) & "
            "cut -d. -f1 /proc/uptime; exit 6")
    output, command = run(session, text, timeout_ms=1000)
    assert command.exit_code == 6
    began = int(output.split()[0] if output[:1].isdigit() else output.split()[-1])
    until(lambda: int(run(session, "tail -n 1 /tmp/log")[0] or 0) >= began + 3)
    output, command = run(session, "echo mine; sleep 0.3")
    assert output == b"mine\n"


def test_this_side_is_gone(server):
    """B-44: killed without a word; the command ends at its limit and grace, and what it started."""
    script = textwrap.dedent("""
        import signal, sys
        from hermes_e2b import _native
        session = _native.Session({"api_key": sys.argv[1], "api_url": sys.argv[2],
                                   "sandbox_url": sys.argv[2], "secure": "false",
                                   "command_grace_seconds": "1"})
        command = session.command(b"trap '' TERM; sleep 600 & echo begun; wait; sleep 600",
                                  timeout_ms=1000)
        print(open(command.take_fd(), "rb").readline(), session.sandbox_id, flush=True)
        signal.pause()
        """)
    before = server.ids()
    with subprocess.Popen([sys.executable, "-c", script, server.key, server.url],
                          stdout=subprocess.PIPE) as process:
        assert process.stdout.readline().startswith(b"b'begun")
        process.kill()
    [made] = server.ids() - before
    sandbox = Sandbox(server, {"sandboxID": made})
    assert sandbox.run("pgrep -c -x sleep") == "2\n"       # the watchdog's, too
    until(lambda: sandbox.run("pgrep -c -x sleep || true") == "0\n")
    server.kill_all()
