"""What bench/run measures with: the server, the delay before it, the library, the SDK and curl."""
import base64
import contextlib
import json
import os
import pathlib
import re
import secrets
import struct
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
START = "/process.Process/Start"
DEADLINE = 120                          # seconds for an answer of the proxy, or a program to end


class Trouble(Exception):
    """What a person can act on; shown as one line."""


# ---- the server ---------------------------------------------------------------------------------


@contextlib.contextmanager
def server(builddir):
    """Yields the E2B_* variables of the server to measure with."""
    names = ("E2B_API_KEY", "E2B_API_URL", "E2B_SANDBOX_URL", "E2B_DOMAIN")
    given = {name: os.environ[name] for name in names if os.environ.get(name)}
    if "E2B_API_URL" in given or "E2B_API_KEY" in given:
        if "E2B_API_KEY" not in given:
            raise Trouble("E2B_API_URL is set and E2B_API_KEY is not: set both or none")
        yield given
        return
    program = builddir / "e2b-local"
    if not program.exists():
        raise Trouble("%s is not there: build it, or set E2B_API_URL and E2B_API_KEY" % program)
    with tempfile.TemporaryDirectory(prefix="he2b-bench-") as folder:
        state = str(pathlib.Path(folder) / "state")
        process = subprocess.Popen(
            [program, "--port", "0", "--state", state, "--log-level", "warning"], text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        try:
            if not process.stdout.readline():
                raise Trouble("e2b-local did not start")
            listing = subprocess.run([program, "env", "--state", state], check=True, text=True,
                                     stdout=subprocess.PIPE).stdout
            yield dict(re.findall(r"^export (\w+)='?([^'\n]*)'?$", listing, re.M))
        finally:
            process.terminate()
            process.wait(DEADLINE)
            process.stdout.close()


def data_url(variables):
    return variables.get("E2B_SANDBOX_URL") or variables["E2B_API_URL"]


class Delay:
    """The delay proxy before both planes of the server."""

    def __init__(self, variables):
        self.direct = variables
        api = variables["E2B_API_URL"]
        planes = {"api": api, "sandbox": data_url(variables)}
        maps = {urllib.parse.urlsplit(url).netloc: name for name, url in planes.items()}
        arguments = []
        for netloc, name in maps.items():
            arguments += ["--map", "0=%s,%s" % (netloc if ":" in netloc else netloc + ":80", name)]
        self.process = subprocess.Popen([sys.executable, HERE / "delayproxy.py", *arguments,
                                         "--capture", START], text=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE)
        ready = json.loads(self.process.stdout.readline() or "{}")
        if not ready:
            raise Trouble("bench/delayproxy.py did not start")
        self.admin = ready["admin"]
        # Where one address serves both planes, so does one port.
        url = {name: "http://127.0.0.1:%d" % ready["ports"][maps[urllib.parse.urlsplit(u).netloc]]
               for name, u in planes.items()}
        self.variables = dict(variables, E2B_API_URL=url["api"], E2B_SANDBOX_URL=url["sandbox"])

    def ask(self, path):
        with urllib.request.urlopen("http://127.0.0.1:%d%s" % (self.admin, path),
                                    timeout=DEADLINE) as response:
            return json.load(response)

    def counts(self):
        """The counters of all maps together since the last call."""
        total = dict.fromkeys(("connections", "requests", "turns", "bytes_up", "bytes_down"), 0)
        for counters in self.ask("/reset")["maps"].values():
            for name in total:
                total[name] += counters[name]
        return total

    def close(self):
        self.process.terminate()
        self.process.wait(DEADLINE)
        self.process.stdout.close()


# ---- the sides ----------------------------------------------------------------------------------


class Side:
    """A process that runs what it is asked to; he2b-bench.c says how."""

    def __init__(self, command, variables):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("E2B_")}
        self.name = pathlib.Path(command[-1]).name
        self.process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env={**environment, **variables})
        self.about = self.answer("start")

    def ask(self, request):
        try:
            self.process.stdin.write(request + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Trouble("%s has ended" % self.name) from None
        return self.answer(request)

    def answer(self, request):
        line = self.process.stdout.readline()
        answer = json.loads(line) if line else {"error": "it ended without an answer"}
        if "error" in answer:
            raise Trouble("%s, asked to %s: %s" % (self.name, request, answer["error"]))
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(DEADLINE)


class Curl:
    """curl, sending what the library sent: head and body of one Start that the proxy saw."""

    # What curl makes itself; the rest of the captured head is sent as it is.
    OWN = {"host", "content-length", "transfer-encoding", "connection", "expect"}
    # What curl would add by itself.
    ADDED = {"user-agent", "accept", "content-type"}
    WRITTEN = "%{time_total} %{num_connects} %{http_code} %{size_download}"

    def __init__(self, captured, folder):
        self.folder = pathlib.Path(folder)
        lines = captured["head"].split("\r\n")[1:]
        self.headers = [line for line in lines if line.partition(":")[0].lower() not in self.OWN]
        names = {line.partition(":")[0].lower() for line in self.headers}
        self.headers += [name + ":" for name in self.ADDED - names]
        self.body = base64.b64decode(captured["body"])
        # the marker's word, by which the command's record is named, too
        self.word = re.findall(rb"(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])", self.body)[-1]
        self.first = self.folder / "first-answer"

    def start_body(self, nth):
        """A file with the Start: with a word of its own, since a second one of a word runs nothing."""
        file = self.folder / ("start-body-%d" % nth)
        file.write_bytes(self.body.replace(self.word, secrets.token_hex(8).encode()))
        return file

    def config(self, url, count, first_output):
        """What curl is to do, as it reads it from its configuration: an argument would show the
        access token of the head in every list of processes."""
        lines = []
        for i in range(count + 1):
            lines += ["next"] if i else []
            lines += ["silent", "show-error", "http1.1", 'url = "%s"' % url,
                      'data-binary = "@%s"' % self.start_body(i),
                      'output = "%s"' % (os.devnull if i else first_output),
                      'write-out = "%s\\n"' % self.WRITTEN]
            lines += ['header = "%s"' % line.replace("\\", "\\\\").replace('"', '\\"')
                      for line in self.headers]
        return "\n".join(lines) + "\n"

    def run(self, base_url, count, check=None):
        """Sends it once to open a connection, then count times on it. Returns the times of the
        count transfers, and of the first one, in ms, and what the process used. check(answer) looks
        at the first answer."""
        process = subprocess.Popen(["curl", "--disable", "--config", "-"], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdin.write(self.config(base_url + START, count,
                                        self.first if check else os.devnull))
        process.stdin.close()
        lines = process.stdout.read().splitlines()
        process.stdout.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        fields = [line.split() for line in lines]
        if process.returncode or len(fields) != count + 1 or any(f[2] != "200" for f in fields):
            raise Trouble("curl failed: exit code %d, %s" % (process.returncode, lines))
        if any(int(f[1]) for f in fields[1:]):
            raise Trouble("curl did not keep its connection: its times would not be comparable")
        if check:
            check(self.first.read_bytes())
        return {"ms": [float(f[0]) * 1e3 for f in fields[1:]],
                "first_ms": float(fields[0][0]) * 1e3, "wire_bytes": int(fields[0][3]),
                "cpu_s": usage.ru_utime + usage.ru_stime, "maxrss_kib": usage.ru_maxrss}

    @staticmethod
    def check_echo(data):
        """The repeated command must have run: its output is there, and no error at the end."""
        end, at = b"", 0
        while at + 5 <= len(data):
            flags, size = struct.unpack_from(">BI", data, at)
            end = data[at + 5:at + 5 + size] if flags & 2 else b""
            at += 5 + size
        if not end or b'"error"' in end or not (b"aGkK" in data or b"hi\n" in data):
            raise Trouble("the command that curl repeated did not run: " + repr(end[:200]))


# ---- what the library starts in a sandbox ---------------------------------------------------------


def read_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def protobuf_fields(data):
    """(number, value) of each field; bytes where the field has a length."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        value, at = read_varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        elif key & 7:
            raise Trouble("a Start that cannot be read")
        yield key >> 3, value


def started_words(captured):
    """The words of the program that a captured Start asks for (wire C.7: process is field 1, in it
    cmd is 1 and args is 2)."""
    body = base64.b64decode(captured["body"])[5:]
    if body[:1] == b"{":
        process = json.loads(body)["process"]
        return [word.encode() for word in (process["cmd"], *process.get("args", []))]
    process = next(value for number, value in protobuf_fields(body) if number == 1)
    return [value for number, value in sorted(protobuf_fields(process), key=lambda field: field[0])
            if number in (1, 2)]


# How each side is started.
SIDES = {
    "library": lambda options, variables: Side([options.builddir / "bench" / "he2b-bench"],
                                               variables),
    "sdk": lambda options, variables: Side([options.sdk_python, HERE / "sdk_bench.py"], variables),
}


class Lanes:
    """The library and the SDK as processes on the same server, and ended together."""

    def __init__(self, options, variables, others=None):
        """others: variables of a side that differ."""
        self.sides = {}
        try:
            for name, start in SIDES.items():
                self.sides[name] = start(options, (others or {}).get(name, variables))
        except BaseException:
            self.close()
            raise

    def items(self):
        return self.sides.items()

    def close(self):
        for side in self.sides.values():
            side.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
