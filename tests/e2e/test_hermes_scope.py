"""A persistent sandbox (the default) in a real Hermes: it is there again, and shared."""

import pytest
from hermes_host import Host


@pytest.fixture
def start(server, tmp_path):
    """Starts Hermes processes of one profile: start(**what Host takes)."""
    started = []
    home = tmp_path / "home"

    def make(**options):
        options.setdefault("persistent", "true")
        started.append(Host(home, server.environment, **options))
        return started[-1]

    make.home = home
    yield make
    for host in started:
        host.end()
    server.kill_all()


def test_it_is_there_again_after_a_restart(server, start):  # B-5, B-21, B-91
    first = start()
    first.terminal("echo kept > ~/file; mkdir -p /tmp/work; cd /tmp/work")
    made = server.ids()
    assert len(made) == 1
    assert first.end() == 0
    assert server.ids() == made  # neither killed nor paused
    second = start()
    assert second.terminal("cat ~/file; pwd")["output"].split() == ["kept", "/home/user"]
    assert server.ids() == made


def test_cleanup_leaves_it_and_the_next_command_finds_it(server, start):  # B-91
    host = start()
    host.terminal("echo kept > ~/file")
    made = server.ids()
    host.ask(do="cleanup")
    assert server.ids() == made
    assert host.terminal("cat ~/file")["output"].strip() == "kept"
    assert server.ids() == made


def test_two_processes_share_it(server, start):  # B-24, B-60
    first, second = start(), start()
    assert first.terminal("echo one > ~/file")["exit_code"] == 0
    assert second.terminal("cat ~/file; echo two >> ~/file")["output"].strip() == "one"
    assert first.terminal("cat ~/file")["output"].split() == ["one", "two"]
    assert len(server.ids()) == 1


def test_the_file_tools_see_it_too(server, start):
    first, second = start(), start()
    first.tool("write_file", path="/home/user/note.txt", content="from the first\n")
    assert "from the first" in str(second.tool("read_file", path="/home/user/note.txt"))


def test_a_death_hands_the_role_over(server, start):  # B-60, B-65
    first, second = start(), start()
    first.terminal("echo one > ~/file")
    second.terminal("true")
    first.process.kill()
    assert second.terminal("cat ~/file")["output"].strip() == "one"
    assert len(server.ids()) == 1


def test_a_scope_that_is_being_rebuilt_says_so(server, start):  # B-65, B-120
    first = start()
    first.terminal("true")
    second = start()
    second.terminal("true")
    marker = next((start.home / "cache" / "e2b").glob("*.writer.lock"))
    marker = marker.with_name(marker.name.replace(".writer.lock", ".state-dirty"))
    marker.write_text("a writer is taking over\npid=1\n")
    result = second.terminal("echo ran")
    assert "being rebuilt or is known to be stale" in str(result)
    assert "ran\n" not in str(result.get("output"))
    marker.unlink()
    assert second.terminal("echo ran")["output"].strip() == "ran"


def test_a_vanished_one_is_replaced(server, start):  # B-97
    host = start()
    host.terminal("export WAS=here; touch ~/mark")
    made = server.ids().pop()
    server.api("DELETE", "/sandboxes/" + made)
    result = host.terminal("ls ~/mark 2>/dev/null; echo ${WAS:-unset}")
    assert result["output"].strip().splitlines()[-1] == "unset"
    assert len(server.ids()) == 1 and made not in server.ids()
