"""Many commands at once and much output: what it costs the process in memory, threads and processor
time, in clear text and over TLS (B-40, B-50; FB-34)."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from local_server import builddir
from tls_front import needs_nginx

CHILD = Path(__file__).with_name("flood_child.py")
DEADLINE = 120
MIB = 1024                              # of KiB


@pytest.fixture(scope="module", params=["clear text", pytest.param("TLS", marks=needs_nginx)])
def ask(request, server):
    """Runs flood_child.py; what it tells."""
    url, environment = server.url, dict(os.environ)
    if request.param == "TLS":
        tls = request.getfixturevalue("tls")
        url = tls.front(server.url).url()
        environment["SSL_CERT_FILE"] = tls.authority.file

    def ask(*arguments):
        options = {"api_key": server.key, "api_url": url, "sandbox_url": url}
        child = subprocess.run([sys.executable, CHILD, *map(str, arguments)], text=True,
                               input=json.dumps(options) + "\n", stdout=subprocess.PIPE,
                               env=environment, timeout=DEADLINE)
        assert child.returncode == 0
        return json.loads(child.stdout)

    ask.variables = {**environment, "E2B_API_KEY": server.key, "E2B_API_URL": url, "E2B_SANDBOX_URL": url}
    return ask


@pytest.fixture(scope="module")
def stalled(ask):
    return ask("stalled", 16)


def test_readers_that_stop_stop_their_own_transfers_only(stalled):  # B-40, B-50, FB-31
    assert stalled["beside"] and stalled["others_still"]
    assert stalled["outcomes"] == [True]  # all of them killed, and not one that ended by itself


def test_a_stopped_reader_costs_a_bounded_memory_and_no_time(stalled):  # FB-34
    assert stalled["still"]
    assert stalled["grown_kib"] < 16 * MIB  # at most 1 MiB each
    assert stalled["cpu_s"] < 0.01 * stalled["seconds"]
    assert stalled["wakeups"] < 5 * stalled["seconds"]


def test_much_output_grows_nothing(ask):  # B-40, FB-09
    it = ask("output", 256 << 20)
    assert it["bytes"] == 256 << 20
    assert it["grown_kib"] < 4 * MIB


def test_200_threads_with_a_command_each(ask):  # B-50
    assert ask("threads", 200)["right"]


def test_200_commands_take_no_threads_and_little_memory(ask):  # B-50
    it = ask("at-once", 200)
    assert (it["bytes"], it["codes"]) == ([5], [0])
    assert it["threads"] == 0
    assert it["grown_kib"] < 200 * 128


def test_200_commands_from_c(ask):  # B-50
    """The bench's own side of the library: a program in C that uses he2b.h alone."""
    done = subprocess.run([str(builddir() / "bench" / "he2b-bench")], text=True,
                          input="open\nmany 200\nclose\n", stdout=subprocess.PIPE,
                          env=ask.variables, timeout=DEADLINE)
    assert done.returncode == 0, done.stdout
    many = json.loads(done.stdout.splitlines()[2])  # it checks each output and each exit code
    assert many["threads"] == 0
    assert many["peak_kib"] - many["rss_kib"] < 200 * 128
