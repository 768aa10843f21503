"""What the plugin makes of steps: Hermes' real FileSyncManager, and a session that only notes what is
moved. Failures of the manager are silent by its nature; here they have to be heard."""

import subprocess
import sys
import textwrap

import pytest

# In a process of its own: Hermes reads its home once.
PRELUDE = '''
import logging, os, pathlib, sys
home = pathlib.Path(os.environ["HERMES_HOME"])
from hermes_e2b.native import Interrupted, SandboxError
from hermes_e2b.state import State

FAILURE = {"code": "HE2B_ERR_LOST", "action": "push", "cause": "the line is down", "hint": ""}

class Transfer:
    def __init__(self, session):
        self.session, self.calls, self.failure = session, [], None
    def wait(self, ms):
        return not self.session.stuck or ("cancel",) in self.calls
    def notes(self):
        return []
    def __getattr__(self, name):
        def note(*arguments):
            self.calls.append((name, *arguments))
            if name in ("push", "recover", "pull") and self.session.failures:
                self.failure = self.session.failures.pop(0)
        return note

class Session:
    home = "/home/user"
    def __init__(self):
        self.made, self.failures, self.stuck, self.steps = [], [], False, []
    def transfer(self, home):
        self.made.append(Transfer(self))
        return self.made[-1]
    def take_log(self):
        return []
    def take_step(self, pull=False):
        return self.steps.pop(0) if self.steps else None
    def moved(self):
        made, self.made = self.made, []
        return [sorted(c[0] + " " + c[2 if c[0] == "add" else 1].decode() if len(c) > 1 and
                       c[0] in ("add", "remove") else c[0] for c in t.calls) for t in made]

class Step:
    def __init__(self, kind):
        self.kind, self.answer = kind, None
    def done(self):
        self.answer = "done"
    def fail(self, why):
        self.answer = why
    def again(self):
        self.answer = "again"

session = Session()
state = State(session, str(home))
def do(kind, interrupted=lambda: False):
    step = Step(kind)
    state.do(step, interrupted)
    return step.answer
def write(path, text):
    path = home / path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
'''


@pytest.fixture
def run(tmp_path):
    """Runs Python text behind the prelude, which must end well: run(text) is what it printed."""

    def run(text):
        (tmp_path / "config.yaml").write_text("terminal: {credential_files: [token.json]}\n")
        done = subprocess.run(
            [sys.executable, "-c", PRELUDE + textwrap.dedent(text)],
            env={"HERMES_HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_what_is_moved(run):  # B-70, B-72, B-75
    run('''
        write("skills/a/SKILL.md", "a"); write("token.json", "t")
        assert do("push") == "done"
        assert session.moved() == [["add skills/a/SKILL.md", "add token.json", "push"]]
        assert do("sync") == "done" and session.moved() == []
        write("skills/a/SKILL.md", "longer"); (home / "token.json").unlink()
        assert do("sync") == "done"
        assert session.moved() == [["add skills/a/SKILL.md", "push", "remove token.json"]]
        (home / "skills/a/SKILL.md").unlink()
        assert do("sync") == "done" and session.moved() == [["push", "remove skills/a/SKILL.md"]]
        assert do("sync") == "done" and session.moved() == []
    ''')


def test_nothing_to_send_still_sends_the_manifest(run):  # B-75
    run('''
        assert do("push") == "done" and session.moved() == [["push"]]
        assert do("recover") == "done"
        session.moved()
        assert do("push") == "done" and session.moved() == [["follow", "push"]]
    ''')


def test_a_failure_is_heard_and_tried_again(run):  # B-70, B-73
    run('''
        write("skills/a/SKILL.md", "a")
        session.failures = [FAILURE]
        assert do("push") == "push: the line is down"
        session.moved()
        assert do("push") == "done"
        write("skills/b", "b"); (home / "skills/a/SKILL.md").unlink()
        session.failures = [FAILURE]
        assert do("sync") == "push: the line is down"
        session.moved()
        assert do("sync") == "done"
        assert session.moved() == [["add skills/b", "push", "remove skills/a/SKILL.md"]]
    ''')


def test_an_interrupt_ends_the_transfer_first(run):  # B-116
    run('''
        write("skills/a/SKILL.md", "a")
        session.stuck = True
        step = Step("push")
        try:
            state.do(step, lambda: True)
        except Interrupted:
            pass
        else:
            sys.exit("not heard")
        assert step.answer == "it was interrupted"
        assert session.moved()[0].count("cancel") == 1
    ''')


def test_who_is_interrupted_late_waits_for_the_transfers_end_too(run):  # B-116, B-64
    """No lock goes while something may still be written, however long the transfer had run."""
    run('''
        from hermes_e2b import state as module
        write("skills/a/SKILL.md", "a")
        session.stuck = True
        now, after = [0.0], []
        module.time = type("Clock", (), {"monotonic": staticmethod(lambda: now[0])})
        wait = Transfer.wait
        def slow(self, ms):
            now[0] += 1
            if ("cancel",) not in self.calls:
                return False
            after.append(1)
            return len(after) > 2
        Transfer.wait = slow
        try:
            state.do(Step("push"), lambda: now[0] > 100)
        except Interrupted:
            sys.exit(0 if len(after) == 3 else "asked %d times behind its end" % len(after))
        sys.exit("not heard")
    ''')


def test_what_hermes_cannot_read_is_named(run):  # B-73
    run('''
        from tools.environments import file_sync
        write("skills/a/SKILL.md", "a")
        def broken(*unused, **ignored):
            raise OSError("disk")
        file_sync._sha256_file = broken
        assert do("push") == "Hermes could not synchronise; its log says why", do("push")
    ''')


def test_a_pull_connects_before_each_attempt(run):  # B-91, B-93
    run('''
        from tools.environments import file_sync
        file_sync._sleep = lambda seconds: None
        write("skills/a/SKILL.md", "a")
        assert do("push") == "done"
        session.moved()
        steps = [Step("pull") for _ in range(3)]
        session.failures = [FAILURE] * 3
        session.steps = steps[1:]
        state._pull(steps[0])
        assert [s.answer for s in steps] == ["again", "again", "push: the line is down"]
    ''')


def test_an_older_python_extracts_too(run):  # B-91: Python before 3.11.4, as Debian 12 has it
    run('''
        import io, tarfile
        from tools.environments import file_sync
        from hermes_e2b.archive import safe_archive
        if hasattr(tarfile, "data_filter"):
            del tarfile.data_filter
        with tarfile.open("a.tar", "w") as tar:
            member = tarfile.TarInfo("x/y")
            member.size = 1
            tar.addfile(member, io.BytesIO(b"z"))
        with safe_archive(file_sync), file_sync.tarfile.open("a.tar") as tar:
            tar.extractall("out", filter="data")
        assert open("out/x/y").read() == "z"
        with file_sync.tarfile.open("a.tar") as tar:
            try:
                tar.extractall("elsewhere", filter="data")
            except TypeError:
                sys.exit(0)
        sys.exit("another one's archive was extracted without a filter")
    ''')


def test_a_pull_that_is_given_up_raises_past_hermes(run):  # B-96
    run('''
        from hermes_e2b.pull import Abandoned
        write("skills/a/SKILL.md", "a")
        assert do("push") == "done"
        session.stuck = True
        session.abandon_pull = lambda: None
        state.abandon_pull()
        try:
            state._pull(Step("pull"))
        except Abandoned:
            sys.exit(0)
        sys.exit("not raised")
    ''')
