"""The scripted peer (tests/peer) as a child process of a test."""
import json
import select
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[1] / "peer" / "peer.py"
SCRIPTS = PROGRAM.parent / "scripts"
DEADLINE = 60


def scripts(pattern):
    """Names of the scripts that match, in their order."""
    names = sorted(path.stem for path in SCRIPTS.glob(pattern + ".script"))
    assert names, pattern
    return names


class Peer:
    """script: its text. server: where it passes on what the script does not spoil (local_server's
    Server, or another Peer); None: it answers alone."""

    host = "127.0.0.1"

    def __init__(self, script, server=None):
        upstream = ["--upstream", "%s:%d" % (server.host, server.port)] if server else []
        self.server = server
        self.process = subprocess.Popen([sys.executable, "-B", PROGRAM, *upstream, "-e", script],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        line = self.read()
        assert line.startswith("listening "), "the script makes no sense"
        self.port = int(line.split()[1])
        self.url = "http://127.0.0.1:%d" % self.port
        self.verdict = None

    @property
    def environment(self):
        """What a client exports so that both planes lead through here."""
        settings = self.server.environment if self.server else {"E2B_API_KEY": "e2b_" + "0" * 40}
        return {**settings, "E2B_API_URL": self.url, "E2B_SANDBOX_URL": self.url}

    def read(self):
        readable, _, _ = select.select([self.process.stdout], [], [], DEADLINE)
        assert readable, "the scripted peer does not answer"
        return self.process.stdout.readline().decode().rstrip("\n")

    def ask(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        answer = self.read()
        assert answer and not answer.startswith("error: "), answer or "the scripted peer has ended"
        return answer

    def count(self, what):
        """How many requests came for "METHOD PATH" (* is a wildcard), or one of the other counts."""
        return int(self.ask("count " + what))

    def counts(self):
        return json.loads(self.ask("counts"))

    def requests(self):
        return json.loads(self.ask("requests"))

    def script(self, text):
        """More script, for requests that are still to come."""
        self.ask("script " + json.dumps(text))

    def reached(self, barrier):
        """Returns when a request waits there."""
        self.ask("await " + barrier)

    def release(self, barrier):
        self.ask("release " + barrier)

    def end(self):
        """"ok", or what the script expected in vain."""
        if self.verdict is None:
            self.verdict = self.ask("end")
            self.process.stdin.close()
            code = self.process.wait(DEADLINE)
            self.process.stdout.close()
            assert code == (self.verdict != "ok")
        return self.verdict

    def kill(self):
        if self.process.returncode is None:
            self.process.kill()
            self.process.wait()
