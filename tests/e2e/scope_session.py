"""A session of a persistent scope in a process of its own.

Run as a program it is the child: it makes the session and answers one JSON request per line on stdin.
Imported it is the other side: `Session` starts such a child and asks it.
"""

import json
import os
import select
import signal
import subprocess
import sys

DEADLINE = 60


class Session:
    """The child; `ask` waits for its answer, `send` and `answer` are the halves of it."""

    def __init__(self, server, home, task="task", wrapper=(), environment=None, **options):
        options = {
            "api_key": server.environment["E2B_API_KEY"],
            "api_url": server.environment["E2B_API_URL"],
            "sandbox_url": server.environment["E2B_SANDBOX_URL"],
            **options,
        }
        self.process = subprocess.Popen(
            [*wrapper, sys.executable, __file__, str(home), task],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        # not by the environment: what `ps e` shows holds no key
        self.process.stdin.write(json.dumps(options) + "\n")
        self.process.stdin.flush()

    def send(self, do, **arguments):
        self.process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self.process.stdin.flush()

    def answer(self):
        readable, _, _ = select.select([self.process.stdout], [], [], DEADLINE)
        assert readable, "no answer within %s s" % DEADLINE
        line = self.process.stdout.readline()
        assert line, "the session's process died"
        return json.loads(line)

    def ask(self, do, **arguments):
        self.send(do, **arguments)
        return self.answer()

    def run(self, text):
        """The output of a command that must run."""
        answer = self.ask("run", text=text)
        assert answer["failure"] is None, answer
        return answer["output"]

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(DEADLINE)

    def end(self):
        """Closes it as a host does; nothing if it is dead."""
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(DEADLINE)
        self.process.stdout.close()
        return self.process.returncode


# ---- the child ----


def state(session):
    return {
        "sandbox": session.sandbox_id,
        "role": session.role,
        "scope": session.scope,
        "generation": session.generation,
        "log": [text for level, text in session.take_log() if level >= 30],
    }


def run(session, text):
    from hermes_e2b import _native

    command = session.command(text.encode(), timeout_ms=60000)
    with os.fdopen(command.take_fd(), "rb") as pipe:
        output = pipe.read().decode()
    while not command.wait(1000):
        pass
    failure = command.failure if command.outcome != _native.ENDED else None
    waiter = session.prepare(0) if failure is None else None
    while waiter is not None and not waiter.wait(1000):
        pass
    return {"output": output, "code": command.exit_code, "failure": failure, **state(session)}


def fork(session, lives):
    """A forked child that exits at once, or lives until this process has let it go."""
    end, start = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(start)
        if lives:
            os.read(end, 1)
        os._exit(0)
    os.close(end)
    if not lives:
        os.waitpid(pid, 0)
        os.close(start)
    return state(session)


def main():
    from hermes_e2b import _native

    options = json.loads(sys.stdin.readline())
    session = _native.Session(options, {}, sys.argv[1], sys.argv[2])
    for line in sys.stdin:
        request = json.loads(line)
        do = request.pop("do")
        if do == "run":
            answer = run(session, **request)
        elif do == "fork":
            answer = fork(session, **request)
        else:
            answer = state(session)
        print(json.dumps(answer), flush=True)
    closing = session.close()
    while not closing.wait(1000):
        pass


if __name__ == "__main__":
    main()
