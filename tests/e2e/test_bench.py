"""bench/run: that it runs, and that what it counts is what happened. Times are not judged here."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

RUN = pathlib.Path(__file__).resolve().parents[2] / "bench" / "run"
DEADLINE = 300                          # seconds after which it hangs


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """The report of a quick run, and its figures."""
    file = tmp_path_factory.mktemp("bench") / "figures.json"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("E2B_")}
    done = subprocess.run([sys.executable, RUN, "--quick", "--delays", "0,20", "--json", file,
                           "--sdk-python", sys.executable], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=DEADLINE, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(file.read_text())


def test_every_side_was_measured_at_every_delay(quick):
    _, figures = quick
    assert list(figures["command"]) == ["direct", "0 ms", "20 ms"]
    for result in figures["command"].values():
        assert set(result) == {"library", "sdk", "curl"}
        for side in result.values():
            assert len(side["ms"]) == 6
            assert min(side["ms"]) > 0


def test_a_round_trip_is_in_every_time(quick):
    _, figures = quick
    for side in figures["command"]["20 ms"].values():
        assert min(side["ms"]) >= 20
    # create, look at what it is like, start; the SDK does without the look
    assert min(figures["create"]["20 ms"]["library"]["ms"]) >= 60
    assert min(figures["create"]["20 ms"]["sdk"]["ms"]) >= 40


def test_a_command_is_one_request_and_one_turn(quick):
    _, figures = quick
    for delay in ("0 ms", "20 ms"):
        for side in ("library", "sdk"):
            counts = figures["command"][delay][side]["counts"]
            assert (counts["requests"], counts["turns"]) == (6, 6), (delay, side)


def test_a_command_with_input_is_two_requests_and_two_turns(quick):
    _, figures = quick
    for delay in ("0 ms", "20 ms"):
        library, sdk = (figures["input"][delay][side] for side in ("library", "sdk"))
        assert (library["counts"]["requests"], library["counts"]["turns"]) == (6, 6)
        assert (sdk["counts"]["requests"], sdk["counts"]["turns"]) == (9, 9)
        assert len(library["ms"]) == len(sdk["ms"]) == 3
    assert min(figures["input"]["20 ms"]["library"]["ms"]) >= 40


def test_many_at_once_wait_for_their_round_trips_together(quick):
    _, figures = quick
    for at_once, result in figures["many"]["20 ms"].items():
        assert set(result) == {"library", "sdk", "local loop"}
        assert all(sample["threads"] == 0 for sample in result["library"])
        assert all(sample["threads"] == int(at_once) for sample in result["sdk"])
        assert min(sample["ms"] for sample in result["library"]) >= 20
        assert min(sample["ms"] for sample in result["local loop"]) > 0


def test_large_output_and_imports_were_measured(quick):
    _, figures = quick
    large = figures["large"]
    assert large["bytes"] == 8 * figures["output_bytes"]
    assert large["peak_kib"] - large["rss_kib"] < 4096
    for side in ("library", "sdk"):
        assert all(sample["ms"] > 0 and sample["rss_kib"] > 0 for sample in figures["import"][side])


def test_a_sandbox_is_created_and_killed_in_as_many_requests_as_documented(quick):
    _, figures = quick
    # POST /v2/sandboxes, Start of the look, Start of the command, DELETE
    assert figures["create"]["0 ms"]["library"]["counts"]["requests"] == 4
    assert figures["create"]["0 ms"]["sdk"]["counts"]["requests"] == 3


def test_all_output_arrived(quick):
    _, figures = quick
    size = figures["output_bytes"]
    assert set(figures["output"]) == {"library", "sdk, streamed", "sdk, collected", "curl"}
    for name, samples in figures["output"].items():
        for sample in samples:
            assert sample["cpu_s"] > 0
            assert sample.get("bytes", size) == size, name
            assert sample.get("wire_bytes", size) >= size, name
            assert sample.get("rss_kib", 0) <= sample["peak_kib"], name


def test_the_report_says_where_and_how_often(quick):
    report, figures = quick
    facts = figures["facts"]
    assert facts["cores"] >= 1
    for text in (facts["kernel"], "e2b-local of this build", figures["sides"]["sdk"]["version"],
                 "library / SDK", "above curl"):
        assert text in report


def test_an_idle_session_costs_little_and_wakes_nobody(quick):
    idle = quick[1]["idle"]
    assert idle["sessions"] == 5
    assert idle["wakeups"] == 0
    assert idle["beyond_first_kib"] / (idle["sessions"] - 1) < 1024
