"""The tools of a real Hermes, through the agent loop's own dispatch, in a sandbox of e2b-local."""

import json
import pathlib

import pytest
from hermes_host import Host
from local_server import until

# Hermes itself refuses "&" in a foreground command, but not inside a word of it.
COUNT = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c '{}' || true"


@pytest.fixture(scope="module")
def host(server, tmp_path_factory):
    with Host(tmp_path_factory.mktemp("hermes"), server.environment) as host:
        yield host


def test_it_is_loaded_as_an_entry_point(host):
    assert host.plugin["source"] == "entrypoint"
    assert host.plugin["error"] in ("None", "")


def test_output_in_order_and_the_commands_own_code(host):  # B-40, B-41
    result = host.terminal("echo out; echo err >&2; echo out2; exit 7")
    assert result["output"].split() == ["out", "err", "out2"]
    assert result["exit_code"] == 7


def test_it_runs_in_the_sandbox_and_not_here(host, tmp_path):  # B-103
    canary = pathlib.Path("/tmp/hermes-e2b-canary")
    canary.unlink(missing_ok=True)
    result = host.terminal(f"echo here > {canary}; echo $E2B_SANDBOX_ID; id -u")
    lines = result["output"].split()
    assert lines[0].startswith("i") and lines[1] == "1000"
    assert not canary.exists()


def test_a_directory_holds_from_one_command_to_the_next(host):  # B-115
    host.terminal("mkdir -p ~/a/b && cd ~/a/b")
    assert host.terminal("pwd")["output"].strip() == "/home/user/a/b"
    # a one-off workdir does not stick
    assert host.terminal("pwd", workdir="/usr")["output"].strip() == "/usr"
    assert host.terminal("pwd")["output"].strip() == "/home/user/a/b"


def test_a_remembered_directory_that_is_gone(host):  # B-115, FB-40
    host.terminal("mkdir -p ~/gone && cd ~/gone")
    host.terminal("rm -rf ~/gone", workdir="/tmp")
    result = host.terminal("pwd; echo ok")
    assert result["exit_code"] == 0
    assert "/home/user\nok" in result["output"]
    assert "is gone" in result["output"]
    assert host.terminal("pwd")["output"].strip() == "/home/user"


def test_a_workdir_that_is_missing_is_hermes_own_126(host):  # B-115
    assert host.terminal("pwd", workdir="/no/such/dir")["exit_code"] == 126


def test_exports_hold(host):
    host.terminal("export COLOUR='dark blue'")
    assert host.terminal('echo "$COLOUR"')["output"].strip() == "dark blue"


def test_the_limit_ends_the_whole_process_group(host):  # B-43
    result = host.terminal("bash -c 'sleep 4321 & echo began; sleep 4322'", timeout=2)
    assert result["exit_code"] == 124
    assert "began" in result["output"]
    until(lambda: host.terminal(COUNT.format("[s]leep 432"))["output"].strip() == "0")


def test_an_interrupt_ends_it_and_keeps_what_it_printed(host):  # B-43
    result = host.ask(
        do="interrupted_call",
        call={
            "tool": "terminal",
            "arguments": {"command": "echo before; touch /tmp/runs; sleep 5432", "timeout": 60},
        },
        started={"tool": "terminal", "arguments": {"command": "ls /tmp/runs 2>/dev/null"}},
    )
    assert result["exit_code"] == 130
    assert "before" in result["output"]
    # the call may come back before the last of them has died
    until(lambda: host.terminal(COUNT.format("[s]leep 5432"))["output"].strip() == "0")


def test_a_background_child_does_not_hold_the_call(host):  # B-42
    result = host.terminal("bash -c '(sleep 3456; echo late) & echo now'")
    assert result["output"].strip() == "now"
    assert host.terminal(COUNT.format("[s]leep 3456"))["output"].strip() != "0"


@pytest.mark.parametrize(
    "content",
    ["one\ntwo\n", "no newline at the end", "h\u00e9llo \u20ac \U0001f600\n" * 3, "$HOME `id` \\ ' \"\n", ""],
)
def test_files_are_written_byte_for_byte(host, content):  # B-45
    path = "/home/user/file.txt"
    written = host.tool("write_file", path=path, content=content)
    assert not written.get("error"), written
    shown = host.terminal(f"base64 -w0 {path}")["output"].strip()
    import base64

    assert base64.b64decode(shown).decode() == content


def test_a_large_file(host):
    content = "0123456789abcdef" * 65536 + "end\n"
    assert not host.tool("write_file", path="/home/user/large.txt", content=content).get("error")
    assert host.terminal("wc -c < ~/large.txt")["output"].strip() == str(len(content))


def test_read_patch_and_search(host):
    path = "/home/user/code/f.py"
    host.tool("write_file", path=path, content="def f():\n    return 1\n")
    assert "return 1" in host.tool("read_file", path=path)["content"]
    assert not host.tool("patch", path=path, old_string="return 1", new_string="return 2").get("error")
    found = host.tool("search_files", pattern="return 2", path="/home/user/code")
    assert found.get("total_count") == 1, found


def test_code_runs_there_with_tool_calls(host):
    result = host.tool(
        "execute_code",
        code="from hermes_tools import terminal\nprint(terminal('echo $E2B_SANDBOX_ID')['output'])",
    )
    inside = host.terminal("echo $E2B_SANDBOX_ID")["output"].strip()
    assert inside in json.dumps(result)


def test_a_background_process(host):
    started = host.terminal("for i in 1 2 3; do echo tick $i; done; exit 3", background=True)
    result = host.tool("process_manage", action="wait", session_id=started["session_id"], timeout=30)
    assert "tick 3" in json.dumps(result)


def test_calls_at_once(host):  # B-50
    """Each waits for all the others: they end only if they run at the same time."""
    command = (
        "mkdir -p /tmp/meet; touch /tmp/meet/{}; "
        "until [ $(ls /tmp/meet | wc -l) = 5 ]; do sleep 0.05; done; echo met"
    )
    calls = [{"tool": "terminal", "arguments": {"command": command.format(i)}} for i in range(5)]
    results = host.ask(parallel=calls)
    assert [r["output"].strip() for r in results] == ["met"] * 5


def test_availability_without_network(host):  # B-102
    answer = host.ask(do="provider")
    assert answer["available"] is True
    assert answer["probe"][0] == "ready"
    assert all(row[0] for row in answer["doctor"])
    assert answer["guards"] is True


def test_a_fork_refuses_and_harms_nothing(host):
    host.terminal("true")
    assert host.ask(do="fork") == 0
    assert host.terminal("echo alive")["output"].strip() == "alive"
