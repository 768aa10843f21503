#!/usr/bin/env python3
"""The official SDK's side of bench/run: PyPI's `e2b`, used as its own documentation shows.

Reads requests from stdin, one a line, and answers each with one line of JSON on stdout;
bench/he2b-bench.c says which, and speaks the same. The SDK runs every command in a login shell.

    output BYTES stream   the output goes to a callback as it comes, and is not kept where the SDK
                          can do without
    output BYTES whole    the output is collected, the SDK's default
"""
import concurrent.futures
import inspect
import json
import platform
import resource
import sys
import threading
import time
from importlib import metadata

PATTERN = "0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LEASE = 3600                            # seconds; longer than any run of the bench


def cpu_s():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def memory_kib(field):
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(field):
                return int(line.split()[1])
    return -1


def reset_peak():
    """Makes the peak (VmHWM) begin anew at the present size: proc(5), clear_refs."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def answer(value):
    print(json.dumps(value), flush=True)


began = time.monotonic()
import e2b  # noqa: E402: how long this takes is a figure

IMPORT_MS = (time.monotonic() - began) * 1e3


def expect(condition, what):
    if not condition:
        raise SystemExit("sdk_bench: " + what)


class Side:
    def __init__(self):
        self.sandbox = None

    def create(self):
        first = []
        cpu, start = cpu_s(), time.monotonic()
        sandbox = e2b.Sandbox.create(timeout=LEASE)
        sandbox.commands.run("echo hi", on_stdout=lambda _: first.append(time.monotonic()))
        end = time.monotonic()
        cpu = cpu_s() - cpu
        sandbox.kill()
        return {"first_ms": (first[0] - start) * 1e3, "end_ms": (end - start) * 1e3, "cpu_s": cpu}

    def open(self):
        self.sandbox = e2b.Sandbox.create(timeout=LEASE)
        return {}

    def close(self):
        self.sandbox.kill()
        self.sandbox = None
        return {}

    def command(self, count, _shell):
        samples = []
        cpu = cpu_s()
        for _ in range(int(count)):
            start = time.monotonic()
            result = self.sandbox.commands.run("echo hi")
            samples.append((time.monotonic() - start) * 1e3)
            expect((result.stdout, result.exit_code) == ("hi\n", 0), "echo: not what was expected")
        return {"ms": samples, "cpu_s": cpu_s() - cpu}

    def many(self, count):
        """The SDK's commands block, so each has a thread; they are there before the clock starts."""
        count = int(count)
        threads = threading.active_count()
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            together = threading.Barrier(count + 1)
            list_of = [pool.submit(together.wait) for _ in range(count)]
            together.wait()
            concurrent.futures.wait(list_of)
            reset_peak()
            before = memory_kib("VmRSS:")
            cpu, start = cpu_s(), time.monotonic()
            results = list(pool.map(lambda _: self.sandbox.commands.run("echo hi"), range(count)))
            end = time.monotonic()
            threads = threading.active_count() - threads
        expect({(r.stdout, r.exit_code) for r in results} == {("hi\n", 0)}, "many: not as expected")
        return {"ms": (end - start) * 1e3, "cpu_s": cpu_s() - cpu, "rss_kib": before,
                "peak_kib": memory_kib("VmHWM:"), "threads": threads}

    def input(self, size, count):
        data = bytes(int(size))
        samples = []
        cpu = cpu_s()
        for _ in range(int(count)):
            start = time.monotonic()
            handle = self.sandbox.commands.run("wc -c", background=True, stdin=True)
            self.sandbox.commands.send_stdin(handle.pid, data)
            self.sandbox.commands.close_stdin(handle.pid)
            result = handle.wait()
            samples.append((time.monotonic() - start) * 1e3)
            expect(result.stdout == size + "\n", "input: not what was expected")
        return {"ms": samples, "cpu_s": cpu_s() - cpu}

    def output(self, size, how):
        got = 0

        def count(text):
            nonlocal got
            got += len(text)

        options = {"timeout": 0}
        if how == "stream":
            options["on_stdout"] = count
            if "retain_output" in inspect.signature(self.sandbox.commands.run).parameters:
                options["retain_output"] = False
        text = "yes '%s' | head -c %s" % (PATTERN, size)
        reset_peak()
        before = memory_kib("VmRSS:")
        cpu, start = cpu_s(), time.monotonic()
        result = self.sandbox.commands.run(text, **options)
        end = time.monotonic()
        cpu = cpu_s() - cpu
        if how == "whole":
            got = len(result.stdout)
        expect(got == int(size), "output: %d bytes instead of %s" % (got, size))
        return {"ms": (end - start) * 1e3, "cpu_s": cpu, "bytes": got, "rss_kib": before,
                "peak_kib": memory_kib("VmHWM:")}


def main():
    # Which of these carries the requests depends on the SDK's version.
    transport = [name for name in ("httpx", "httpcore", "pyqwest") if name in sys.modules]
    answer({"side": "sdk", "version": metadata.version("e2b"),
            "transport": ["%s %s" % (name, metadata.version(name)) for name in transport],
            "python": platform.python_version(), "import_ms": IMPORT_MS})
    side = Side()
    try:
        for line in sys.stdin:
            name, *arguments = line.split()
            answer(getattr(side, name)(*arguments))
    except Exception as error:          # whatever it is, bench/run has to be told
        answer({"error": "%s: %s" % (type(error).__name__, str(error).split("\n")[0])})
        raise SystemExit(1) from None
    finally:
        if side.sandbox is not None:
            side.sandbox.kill()


if __name__ == "__main__":
    main()
