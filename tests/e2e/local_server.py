"""Starting e2b-local for a test, and speaking to it over plain sockets."""
import base64
import contextlib
import http.client
import json
import os
import select
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path

PORT = "49983"
DEADLINE = 30
# how a stream ends that is cut
CUT = (ConnectionError, http.client.IncompleteRead)


def builddir():
    path = os.environ.get("HE2B_BUILDDIR")
    if not path:
        raise RuntimeError("HE2B_BUILDDIR must name the folder where the project was built")
    return Path(path)


def program():
    return str(builddir() / "e2b-local")


def until(condition, seconds=DEADLINE):
    """Asks condition again and again until it is true; gives what it gave."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("not within %s s: %s" % (seconds, condition))
        select.select([], [], [], 0.01)


class Server:
    """One e2b-local on a state folder of its own."""

    def __init__(self, state, *options):
        self.state = str(state)
        self.log = open(self.state + ".log", "ab")
        # a build with sanitizers keeps freed memory for a while, which would count as used
        environment = {"ASAN_OPTIONS": "quarantine_size_mb=1", **os.environ}
        self.process = subprocess.Popen(
            [program(), "--port", "0", "--state", self.state, "--log-level", "debug", *options],
            stdout=subprocess.PIPE, stderr=self.log, stdin=subprocess.DEVNULL, env=environment)
        readable, _, _ = select.select([self.process.stdout], [], [], DEADLINE)
        line = self.process.stdout.readline().decode() if readable else ""
        if not line.startswith("e2b-local listening on http://"):
            self.stop()
            raise RuntimeError("e2b-local did not start: %r\n%s" % (line, self.log_text()))
        self.url = line.split()[-1]
        self.host, port = self.url[len("http://"):].rsplit(":", 1)
        self.port = int(port)
        self.environment = dict(
            line[len("export "):].split("=", 1)
            for line in subprocess.run([program(), "env", "--state", self.state], check=True,
                                       capture_output=True, text=True).stdout.splitlines())
        self.key = self.environment["E2B_API_KEY"]

    def log_text(self):
        return Path(self.state + ".log").read_text(errors="replace")

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(DEADLINE)
        self.process.stdout.close()
        self.log.close()
        return code

    def connect(self):
        s = socket.create_connection((self.host.strip("[]"), self.port), timeout=DEADLINE)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return s

    def request(self, method, target, body=None, headers=()):
        """Status, headers (lower case) and body. A header whose value is None is left out."""
        connection = http.client.HTTPConnection(self.host.strip("[]"), self.port, timeout=DEADLINE)
        try:
            connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            fields = {"Host": "localhost"}
            fields.update(headers)
            if body is not None and "Transfer-Encoding" not in fields:
                fields.setdefault("Content-Length", str(len(body)))
            for name, value in fields.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def api(self, method, path, value=None, headers=()):
        """A control-plane call: status, headers, the answer's JSON (None if it is empty)."""
        body = None if value is None else json.dumps(value).encode()
        status, fields, text = self.request(
            method, path, body,
            {"X-API-Key": self.key, "Content-Type": "application/json", **dict(headers)})
        return status, fields, json.loads(text) if text else None

    def create(self, **members):
        status, _, made = self.api("POST", "/sandboxes", {"templateID": "base", "timeout": 300, **members})
        assert status == 201, made
        return Sandbox(self, made)

    def ids(self):
        return {item["sandboxID"] for item in self.api("GET", "/v2/sandboxes")[2]}

    def kill_all(self):
        for made in self.ids():
            self.api("DELETE", "/sandboxes/" + made)


class Sandbox:
    """A sandbox of a server, reached over the data plane."""

    def __init__(self, server, made):
        self.server = server
        self.made = made
        self.id = made["sandboxID"]
        self.token = made.get("envdAccessToken")

    def headers(self, **more):
        fields = {"E2b-Sandbox-Id": self.id, "E2b-Sandbox-Port": PORT}
        if self.token:
            fields["X-Access-Token"] = self.token
        return {**fields, **more}

    def request(self, method, target, body=None, headers=()):
        return self.server.request(method, target, body, {**self.headers(), **dict(headers)})

    def detail(self):
        return self.server.api("GET", "/sandboxes/" + self.id)[2]

    def start(self, command, **members):
        return Stream(self, {"process": {"cmd": "/bin/bash", "args": ["-c", command]},
                             "stdin": False, **members})

    def run(self, command):
        """Stdout of a command that must succeed."""
        with contextlib.closing(self.start(command)) as stream:
            events = list(stream)
        out = b"".join(base64.b64decode(e["data"]["stdout"]) for e in events
                       if "stdout" in e.get("data", {}))
        end = next(e["end"] for e in events if "end" in e)
        assert end.get("exitCode", 0) == 0, (events, out)
        return out.decode()

    def write(self, path, data):
        status, _, text = self.request("POST", "/files?path=" + path, data,
                                       {"Content-Type": "application/octet-stream"})
        assert status == 200, text


class Stream:
    """A Start that is going on; iterating gives its events up to the end message."""

    def __init__(self, sandbox, request):
        body = json.dumps(request).encode()
        self.connection = http.client.HTTPConnection(sandbox.server.host.strip("[]"),
                                                     sandbox.server.port, timeout=DEADLINE)
        self.connection.request("POST", "/process.Process/Start",
                                struct.pack(">BI", 0, len(body)) + body,
                                {"Content-Type": "application/connect+json", "Host": "localhost",
                                 **sandbox.headers()})
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200

    def exact(self, n):
        data = b""
        while len(data) < n:
            piece = self.answer.read(n - len(data))
            if not piece:
                raise http.client.IncompleteRead(data)
            data += piece
        return data

    def event(self):
        """The next event, or None at the end message."""
        flags, size = struct.unpack(">BI", self.exact(5))
        message = json.loads(self.exact(size))
        return None if flags & 2 else message["event"]

    def __iter__(self):
        return iter(self.event, None)

    def close(self):
        self.answer.close()
        self.connection.close()
