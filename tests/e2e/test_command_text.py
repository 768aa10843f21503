"""A command's text is data, by argument and by file (B-46), and what it starts lives on (B-42)."""

import os
import textwrap

import pytest
from hermes_e2b import _native
from test_native import run

ARGUMENT_MAX = 131_071
MAX = 16 * 1024 * 1024


@pytest.fixture
def session(server):
    session = _native.Session({
        "api_key": server.key,
        "api_url": server.environment["E2B_API_URL"],
        "sandbox_url": server.environment["E2B_SANDBOX_URL"],
    })
    yield session
    closing = session.close()
    while not closing.wait(1000):
        pass


def long(text, size):
    """text behind so many comments that all of it has size bytes; its first line stays the last."""
    head = ("#" * 1000 + "\n") * ((size - len(text)) // 1001)
    return ("#" * (size - len(text) - len(head) - 1) + "\n" + head if size > len(text) else "") + text


def run_bytes(session, text, **options):
    command = session.command(text, **options)
    with os.fdopen(command.take_fd(), "rb") as pipe:
        output = pipe.read()
    while not command.wait(1000):
        pass
    return output, command


FOLDER = 'd=/tmp/.hermes-e2b-$(id -u); [ -d "${XDG_RUNTIME_DIR:-}/.hermes-e2b-$(id -u)" ] && ' \
         'd=$XDG_RUNTIME_DIR/.hermes-e2b-$(id -u); '


@pytest.mark.parametrize("size", [ARGUMENT_MAX - 1, ARGUMENT_MAX, 200_000, 1024 * 1024, MAX])
def test_sizes(session, size):
    text = long('echo "$0 $# $@"; exit 7', size)
    assert len(text) == size
    output, command = run(session, text)
    assert (output, command.exit_code) == (b"bash 0 \n", 7)
    # the folder is private, and the text is gone
    output, _ = run(session, FOLDER + 'stat -c %a "$d"; ls -d "$d"/text.* 2>/dev/null')
    assert output == b"700\n"


def test_longer_than_that(session):
    output, command = run(session, long("echo ran", MAX + 1))
    assert output == b""
    assert command.outcome == _native.NOT_STARTED
    assert command.failure["code"] == "HE2B_ERR_OVERFLOW"
    assert "longer than 16 MiB" in command.failure["text"]


def test_a_nul_in_it(session):
    _, command = run(session, "echo a\0b")
    assert command.outcome == _native.NOT_STARTED


def test_every_byte(session):
    text = bytes(byte for byte in range(1, 256) if byte not in b"'")
    output, command = run_bytes(session, b"printf %s '" + text + b"'")
    assert (output, command.exit_code) == (text, 0)


def test_one_long_word(session):  # not only comments: the text itself arrives whole
    word = "".join("%08x" % number for number in range(130_000))
    output, _ = run(session, "cat <<'EOF'\n" + word + "\nEOF\n")
    assert output.decode() == word + "\n"


TEXTS = {
    "names": 'echo "$0 $# $@ $LINENO"',
    "here-document left open": "cat <<EOF\n$((1 + 1))\n\n\n",
    "line left open": "echo a\\\n",
    "exit": "echo a; exit 9; echo b",
    "exec": "exec sh -c 'echo $0; exit 4'",
    "trap": 'trap "echo bye" EXIT; trap "echo err" ERR; false',
    "killed": "echo last; kill -9 $$",
    "set -e": "set -e; false; echo on",
    "return": "return 3; echo on",
    "no such command": "no-such-command",
    "stdin": 'read -r line; echo "[$line]"; wc -c',
    "functions": 'f() { echo "$FUNCNAME ${#FUNCNAME[@]} ${BASH_SOURCE[0]}"; }; f; declare -F',
    "background": "echo a & wait; jobs",
    "descriptors": "ls /proc/self/fd | wc -l",
    "environment": "env | grep -c hermes_e2b",
    "group": 'read -r l < /proc/$$/stat; set -- ${l##*) }; [ $3 = $4 ] && [ $3 = $PPID ]',
    "login": "shopt -q login_shell; echo $?",
}


@pytest.mark.parametrize("login", [False, True])
@pytest.mark.parametrize("name", TEXTS)
def test_the_same_by_file(session, name, login):
    """What the text can see of the way that it came by: nothing."""
    filler = "#" * 150_000
    options = {"login": login}
    if name == "stdin":
        options["stdin"] = b"first\nsecond\n"
    by_argument, one = run(session, "#\n" + TEXTS[name], **options)
    by_file, other = run(session, filler + "\n" + TEXTS[name], **options)
    assert by_file == by_argument
    assert other.exit_code == one.exit_code


@pytest.mark.parametrize("text,word", [("echo a\necho 'b", b"unexpected EOF"),
                                       ("echo a\necho ) b", b"near unexpected token")])
def test_an_error_of_the_shell(session, text, word):
    """bash says "eval" where it says "-c"; the line is the same, and so is what ran before."""
    by_argument, one = run(session, "#\n" + text)
    by_file, other = run(session, "#" * 150_000 + "\n" + text)
    assert word in by_file and b"line 3" in by_file
    assert by_file == by_argument.replace(b"bash: -c: ", b"bash: eval: ")
    assert by_file.startswith(b"a\n")
    assert other.exit_code == one.exit_code == 2


def test_a_killed_one_leaves_no_file(session):
    command = session.command(long("echo begun; sleep 600", 200_000).encode())
    with os.fdopen(command.take_fd(), "rb") as pipe:
        assert pipe.readline() == b"begun\n"
        output, _ = run(session, FOLDER + 'ls -d "$d"/text.* 2>/dev/null')
        assert output == b""
        command.kill()
        pipe.read()
    while not command.wait(1000):
        pass
    assert (command.outcome, command.exit_code) == (_native.KILLED, 130)


def test_a_directory_that_is_gone(server, session):  # FB-40
    """The one that is removed is the private folder, since it is there when the directory is chosen."""
    folder = run(session, FOLDER + 'printf %s "$d"')[0].decode()
    other = _native.Session({
        "api_key": server.key,
        "api_url": server.environment["E2B_API_URL"],
        "sandbox_url": server.environment["E2B_SANDBOX_URL"],
        "cwd": folder,
    })
    assert run(other, "pwd; rm -r $PWD")[0].decode() == folder + "\n"
    for text in ("pwd", "pwd", long("pwd", 200_000)):
        output, command = run(other, text)
        assert (output, command.exit_code) == (b"/home/user\n", 0)
    assert other.cwd == "/home/user"
    closing = other.close()
    while not closing.wait(1000):
        pass


MARKERS = {
    "here-document left open": "cat <<EOF\n\x01he2b-",
    "unbalanced quote": "echo a\necho 'b",
    "exit": "exit 3",
    "exec": "exec true",
    "exec of closed output": "exec >&- 2>&-; exit 3",
    "trap": "trap 'echo bye; exit 3' EXIT; exit 2",
    "ps": "ps auxeww",
    "cmdline": "cat /proc/*/cmdline /proc/$PPID/environ 2>/dev/null",
    "wrapper": "tr '\\0' '\\n' < /proc/$PPID/cmdline",
}


@pytest.mark.parametrize("size", [0, 200_000])
@pytest.mark.parametrize("name", MARKERS)
def test_what_the_command_prints_is_no_marker(session, name, size):
    """The marker is in no argument and no environment, so that what follows such output is whole."""
    text = long(MARKERS[name], size)
    output, command = run(session, text)
    assert command.outcome == _native.ENDED
    assert b"\x02" not in output
    # it is the shell's own end that ended it: the same with a last word
    if name in ("ps", "cmdline", "wrapper"):
        assert output
        output, command = run(session, text + "; echo; echo last; exit 5")
        assert output.endswith(b"\nlast\n") and command.exit_code == 5


def test_a_child_in_the_background(session):
    """B-42: it goes on in its pipe after the command's limit, and is heard in no other command."""
    limit_ms = 2000
    text = textwrap.dedent("""
        rm -f /tmp/go.$$ /tmp/done.$$; mkfifo /tmp/go.$$
        (echo ready; read -r line < /tmp/go.$$
         echo later; echo later >&2; echo "$line" > /tmp/done.$$.new
         mv /tmp/done.$$.new /tmp/done.$$; exec sleep 600) &
        echo $$ $!
    """)
    output, command = run(session, text, timeout_ms=limit_ms)
    assert (command.outcome, command.exit_code) == (_native.ENDED, 0)
    shell, child = output.replace(b"ready\n", b"").split()
    shell, child = shell.decode(), child.decode()
    # one that was started with the same limit, after it, is ended by it: so the first one's is over
    _, second = run(session, "sleep 600", timeout_ms=limit_ms)
    assert second.outcome == _native.TIMED_OUT
    output, _ = run(session, f"""
        exec 9<>/tmp/go.{shell}; echo word >&9
        while [ ! -e /tmp/done.{shell} ]; do kill -0 {child} || break; done
        cat /tmp/done.{shell}; kill -0 {child} && echo lives
    """)
    assert output == b"word\nlives\n"
    output, _ = run(session, f"kill {child}; rm -f /tmp/go.{shell} /tmp/done.{shell}; echo over")
    assert output == b"over\n"
