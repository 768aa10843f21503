"""Beginning and end of an environment in a real Hermes: what is made, what is left."""

import importlib.util
import os
import pathlib

import pytest
from hermes_host import Host


@pytest.fixture
def start(server, tmp_path):
    """Starts a Hermes with its own home: start(**what Host takes)."""
    started = []

    def make(environment=None, **options):
        home = tmp_path / f"home{len(started)}"
        started.append(Host(home, {**server.environment, **(environment or {})}, **options))
        return started[-1]

    yield make
    for host in started:
        host.end()
    server.kill_all()


def test_nothing_is_contacted_before_the_first_command(server, start):  # B-20, B-13
    host = start()
    before = server.ids()
    assert host.ask(do="probe")["returncode"] != 0
    assert host.ask(do="provider")["available"] is True
    assert server.ids() == before
    host.terminal("true")
    assert len(server.ids() - before) == 1


def test_cleanup_kills_the_sandbox(server, start):  # B-91
    host = start()
    before = server.ids()
    host.terminal("true")
    assert server.ids() - before
    host.ask(do="cleanup")
    assert server.ids() == before
    # and the next command gets a new one
    assert host.terminal("echo again")["output"].strip() == "again"


def test_a_plain_exit_kills_the_sandbox(server, start):  # B-96
    host = start()
    before = server.ids()
    host.terminal("bash -c 'sleep 1000 & echo begun'")
    assert server.ids() - before
    assert host.end() == 0
    assert server.ids() == before


def test_a_sandbox_that_vanished_is_replaced(server, start):  # B-97
    host = start()
    before = server.ids()
    host.terminal("export WAS=here; touch ~/mark")
    made = (server.ids() - before).pop()
    server.api("DELETE", "/sandboxes/" + made)
    result = host.terminal("ls ~/mark 2>/dev/null; echo ${WAS:-unset}")
    assert result["output"].strip().splitlines()[-1] == "unset"
    assert result["exit_code"] == 0
    after = server.ids() - before
    assert len(after) == 1 and made not in after


def test_without_a_key_it_says_so_at_once(server, start):  # B-7, B-120
    host = start({"E2B_API_KEY": ""})
    result = host.terminal("echo ran")
    text = str(result)
    assert "E2B_API_KEY" in text
    assert "ran\n" not in str(result.get("output"))


def test_a_refused_key_is_told_without_the_key(server, start):  # B-27, B-100
    key = "e2b_" + "0badc0de" * 5
    host = start({"E2B_API_KEY": key})
    result = host.terminal("echo ran")
    assert "Invalid API key" in str(result)
    assert result["exit_code"] == 255
    assert key not in str(result) and key not in host.log_text()


def test_an_unknown_template_names_the_setting(server, start):  # B-27
    host = start(settings="{template: nosuch}")
    result = host.terminal("echo ran")
    assert "nosuch" in str(result) and "template" in str(result)


def test_settings_that_cannot_be_read(server, start):  # B-3
    host = start(settings="{lease_seconds: soon, cwd: /usr}")
    assert host.terminal("pwd")["output"].strip() == "/usr"
    assert "lease_seconds" in host.log_text()


def test_nothing_runs_here_when_the_server_is_dead(server, start):  # B-103, FB-39
    canary = pathlib.Path("/tmp/hermes-e2b-dead-canary")
    canary.unlink(missing_ok=True)
    host = start({"E2B_API_URL": "http://127.0.0.1:9", "E2B_SANDBOX_URL": "http://127.0.0.1:9"})
    result = host.tool("read_file", path=str(canary))
    assert result.get("error")
    assert not canary.exists()


def test_the_key_is_in_no_log_of_hermes(server, start):  # B-7
    host = start()
    host.terminal("env; cat /proc/self/environ")
    assert server.key not in str(host.terminal("env"))
    host.end()
    for folder, _, names in os.walk(host.home):
        for name in names:
            assert server.key.encode() not in pathlib.Path(folder, name).read_bytes(), name


def test_it_works_as_a_directory_plugin(server, start):  # B-114
    folder = pathlib.Path(importlib.util.find_spec("hermes_e2b").origin).parent
    host = start(plugin_folder=folder)
    assert host.plugin["source"] == "user"
    assert host.terminal("echo $E2B_SANDBOX")["output"].strip() == "true"


def test_ctrl_c_during_a_command_kills_the_sandbox(server, start):  # B-94
    host = start()
    before = server.ids()
    host.process.stdin.write(
        '{"tool": "terminal", "arguments": {"command": "touch /tmp/x; sleep 1000"}}\n'
    )
    host.process.stdin.flush()
    from local_server import until

    until(lambda: server.ids() - before)
    made = (server.ids() - before).pop()
    host.interrupt()
    host.process.stdout.close()
    host.process.stdin.close()
    host.process.wait(60)
    assert made not in server.ids()
