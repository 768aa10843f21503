"""e2b-local as the official Python SDK sees it: an independent client of the same wire."""
import asyncio
import datetime
import re
import threading

import pytest
from e2b import (AsyncSandbox, AuthenticationException, CommandExitException, NotFoundException, PtySize, Sandbox,
                 SandboxException, SandboxNotFoundException, SandboxQuery, SandboxState, TimeoutException)
from local_server import until


@pytest.fixture
def box(sdk):
    sandbox = Sandbox.create(timeout=120)
    yield sandbox
    sandbox.kill()


# ---- life -----------------------------------------------------------------------------------------


def test_create_connect_kill(sdk):
    sandbox = Sandbox.create(timeout=120, metadata={"pool": "x y/é&="}, envs={"A": "1"})
    assert sandbox.is_running()
    again = Sandbox.connect(sandbox.sandbox_id)
    assert again.sandbox_id == sandbox.sandbox_id
    assert again.commands.run("echo $A").stdout == "1\n"
    info = sandbox.get_info()
    assert info.metadata == {"pool": "x y/é&="} and info.state == SandboxState.RUNNING
    assert sandbox.kill() is True
    assert sandbox.is_running() is False
    assert sandbox.kill() is False
    with pytest.raises(SandboxNotFoundException):
        Sandbox.connect(sandbox.sandbox_id)


def test_a_wrong_key(sdk, monkeypatch):
    with pytest.raises(AuthenticationException):
        Sandbox.create(api_key="e2b_" + "0" * 40)


def test_an_unknown_template(sdk):
    with pytest.raises(Exception, match="template 'nothing-like-it' not found"):
        Sandbox.create("nothing-like-it")


def all_pages(query=None, limit=2, order=None):
    paginator = Sandbox.list(query=query, limit=limit, order=order)
    while paginator.has_next:
        yield from paginator.next_items()


def test_lists_with_metadata_and_pages(sdk):
    odd = {"pool": "a+b&c=d/é %20", "k": "x y"}
    made = [Sandbox.create(timeout=120, metadata={**odd, "n": str(n)}) for n in range(3)]
    other = Sandbox.create(timeout=120)
    assert {i.sandbox_id for i in all_pages()} == {s.sandbox_id for s in made} | {other.sandbox_id}
    found = list(all_pages(SandboxQuery(metadata=odd)))
    assert [i.sandbox_id for i in found] == [s.sandbox_id for s in reversed(made)]
    assert [i.sandbox_id for i in all_pages(SandboxQuery(metadata={**odd, "n": "1"}))] == [made[1].sandbox_id]
    assert list(all_pages(SandboxQuery(metadata={"pool": "nothing"}))) == []
    made[0].pause()
    assert [i.sandbox_id for i in all_pages(SandboxQuery(metadata=odd, state=[SandboxState.PAUSED]))] == [
        made[0].sandbox_id]


def test_pause_and_resume(box):
    box.files.write("kept.txt", "data")
    handle = box.commands.run("sleep 1000", background=True)
    box.pause()
    assert box.is_running() is False
    assert box.get_info().state == SandboxState.PAUSED
    again = Sandbox.connect(box.sandbox_id, timeout=120)
    assert again.files.read("kept.txt") == "data"
    assert handle.pid in [p.pid for p in again.commands.list()]


def test_lists_by_order_start_and_template(sdk):
    made = [Sandbox.create(timeout=120) for _ in range(3)]
    forward = [s.sandbox_id for s in made]
    assert [i.sandbox_id for i in all_pages(order="asc")] == forward
    assert [i.sandbox_id for i in all_pages(order="desc")] == forward[::-1]
    # the SDK's times end at microseconds
    second = made[1].get_info().started_at
    found = [i.sandbox_id for i in all_pages(SandboxQuery(started_after=second), order="asc")]
    assert found == forward[1:]
    assert [i.sandbox_id for i in all_pages(SandboxQuery(template="base"), order="asc")] == forward
    assert list(all_pages(SandboxQuery(template="nothing"))) == []
    with pytest.raises(SandboxException, match="400"):
        next(all_pages(SandboxQuery(template="base:v7")))
    with pytest.raises(SandboxException, match="400"):
        next(all_pages(limit=101))


def test_what_the_statuses_become(sdk):
    """wire A.15"""
    gone = Sandbox.create(timeout=120)
    assert gone.kill() is True
    for step in (gone.get_info, gone.pause, lambda: gone.set_timeout(60), lambda: Sandbox.connect(gone.sandbox_id)):
        with pytest.raises(SandboxNotFoundException):
            step()
    assert gone.kill() is False
    box = Sandbox.create(timeout=120)
    with pytest.raises(SandboxException, match="Timeout cannot be greater than 24 hours"):
        Sandbox.connect(box.sandbox_id, timeout=90000)
    with pytest.raises(SandboxException, match="Timeout cannot be greater than 24 hours"):
        Sandbox.create(timeout=90000)
    with pytest.raises(SandboxException, match="Invalid sandbox ID"):
        Sandbox.get_info("No-Good-Id")
    assert box.pause() is True and box.pause() is False
    with pytest.raises(SandboxNotFoundException):
        box.set_timeout(60)
    assert Sandbox.kill(box.sandbox_id) is True


@pytest.mark.parametrize("mode", ["full", "filesystem"])
def test_the_end_of_a_lease_that_pauses(sdk, mode):
    """Asked for as the SDK asks for it; who connects finds the files, and the processes or not."""
    box = Sandbox.create(timeout=120, metadata={"a": "b"}, envs={"WORD": "w"},
                         lifecycle={"on_timeout": {"action": "pause", "mode": mode}})
    assert box.get_info().lifecycle == {"on_timeout": "pause", "auto_resume": False}
    box.files.write("kept.txt", "data")
    handle = box.commands.run("sleep 1000", background=True)
    started = box.get_info().started_at
    box.set_timeout(0)
    until(lambda: box.get_info().state == SandboxState.PAUSED)
    paused = box.get_info()
    assert paused.started_at == started and paused.end_at <= datetime.datetime.now(datetime.timezone.utc)
    again = Sandbox.connect(box.sandbox_id, timeout=120)
    assert again.get_info().metadata == {"a": "b"} and again.get_info().started_at > started
    assert again.files.read("kept.txt") == "data"
    alive = handle.pid in [p.pid for p in again.commands.list()]
    assert alive is (mode == "full")
    assert again.commands.run("echo $WORD").stdout == ("w\n" if alive else "\n")


def test_concurrent_connects(sdk):
    """A.8: one start for all of them."""
    box = Sandbox.create(timeout=120)
    boot_id = "cat /proc/sys/kernel/random/boot_id"
    before = box.commands.run(boot_id).stdout
    assert box.pause(mode="filesystem") is True

    async def connect():
        other = await AsyncSandbox.connect(box.sandbox_id, timeout=120)
        return (await other.commands.run(boot_id)).stdout

    async def connect_all():
        return await asyncio.gather(*(connect() for _ in range(8)))

    after = asyncio.run(connect_all())
    assert len(set(after)) == 1 and after[0] != before


def test_set_timeout(box):
    before = box.get_info().end_at
    box.set_timeout(3000)
    assert (box.get_info().end_at - before).total_seconds() > 2000


# ---- commands --------------------------------------------------------------------------------------


def test_stdout_stderr_and_code(box):
    result = box.commands.run("echo out; echo err >&2")
    assert (result.stdout, result.stderr, result.exit_code) == ("out\n", "err\n", 0)
    with pytest.raises(CommandExitException) as caught:
        box.commands.run("echo before; exit 7")
    assert caught.value.exit_code == 7 and caught.value.stdout == "before\n"


def test_user_cwd_and_variables(box):
    assert box.commands.run("id -un; pwd").stdout == "user\n/home/user\n"
    assert box.commands.run("pwd", cwd="/tmp").stdout == "/tmp\n"
    assert box.commands.run("echo $WORD", envs={"WORD": "two words"}).stdout == "two words\n"
    root = box.commands.run("id -u", user="root").stdout
    assert root in ("0\n", "1000\n")


def test_a_command_that_takes_too_long(box):
    with pytest.raises(TimeoutException):
        box.commands.run("sleep 100", timeout=0.5)
    assert box.commands.run("echo alive").stdout == "alive\n"


def test_background_stdin_and_kill(box):
    pieces = []
    handle = box.commands.run("read line; echo got $line; sleep 1000", background=True, stdin=True)
    box.commands.send_stdin(handle.pid, "hello\n")
    for stdout, _, _ in handle:
        pieces.append(stdout)
        break
    assert pieces == ["got hello\n"]
    assert handle.pid in [p.pid for p in box.commands.list()]
    assert box.commands.kill(handle.pid) is True
    assert box.commands.kill(handle.pid + 100000) is False


def test_reconnect_to_a_command(box):
    handle = box.commands.run("until [ -e go ]; do sleep 0.01; done; echo done", background=True)
    handle.disconnect()
    again = box.commands.connect(handle.pid)
    box.files.write("go", "")
    assert again.wait().stdout == "done\n"


def test_a_terminal(box):
    seen = []
    handle = box.pty.create(PtySize(rows=30, cols=100))
    box.pty.resize(handle.pid, PtySize(rows=31, cols=101))
    box.pty.send_stdin(handle.pid, b"stty size; exit 3\r")
    with pytest.raises(CommandExitException) as end:
        handle.wait(on_pty=seen.append)
    assert end.value.exit_code == 3
    assert re.search(rb"[\r\n]31 101\r\n", b"".join(seen))
    assert box.pty.kill(handle.pid) is False


def test_callbacks_and_large_output(box):
    seen = []
    result = box.commands.run("head -c 3000000 /dev/zero | tr '\\0' x", on_stdout=seen.append)
    assert len(result.stdout) == 3000000
    assert len("".join(seen)) == 3000000


def test_commands_at_once(box):
    results = {}

    def work(n):
        results[n] = box.commands.run("sleep 0.2; echo %d" % n).stdout

    threads = [threading.Thread(target=work, args=(n,)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: "%d\n" % n for n in range(20)}


def test_a_sandbox_that_is_killed_under_a_command(sdk):
    box = Sandbox.create(timeout=120)
    handle = box.commands.run("sleep 1000", background=True)
    box.kill()
    with pytest.raises(Exception) as caught:
        handle.wait()
    assert not isinstance(caught.value, CommandExitException)


# ---- files -----------------------------------------------------------------------------------------


def test_write_read_list(box):
    box.files.write("dir/a.txt", "text é")
    box.files.write("dir/b.bin", bytes(range(256)))
    assert box.files.read("dir/a.txt") == "text é"
    assert bytes(box.files.read("dir/b.bin", format="bytes")) == bytes(range(256))
    assert sorted(e.name for e in box.files.list("dir")) == ["a.txt", "b.bin"]
    assert box.commands.run("stat -c '%U %a' dir/a.txt").stdout == "user 644\n"
    with pytest.raises(NotFoundException):
        box.files.read("dir/c.txt")


def test_many_files_and_a_large_one(box):
    made = box.files.write_files([{"path": "many/%d" % n, "data": "x" * n} for n in range(5)])
    assert len(made) == 5
    data = b"0123456789abcdef" * 1024 * 512
    box.files.write("large", data)
    assert bytes(box.files.read("large", format="bytes")) == data


def test_rename_remove_make(box):
    assert box.files.make_dir("new/deep") is True
    assert box.files.make_dir("new/deep") is False
    box.files.write("new/one", "1")
    assert box.files.rename("new/one", "new/two").path == "/home/user/new/two"
    assert box.files.exists("new/two") and not box.files.exists("new/one")
    box.files.remove("new")
    assert not box.files.exists("new")
