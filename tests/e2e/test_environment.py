"""hermes_e2b.environment by itself: what needs no sandbox."""

import threading
from types import SimpleNamespace

import pytest
from hermes_e2b.directories import Call
from hermes_e2b.environment import E2BEnvironment

NOTE = "[its end was not seen]"


@pytest.mark.parametrize(
    "output, expected",
    [("", NOTE), ("line\n", f"line\n{NOTE}"), ("cut", f"cut\n{NOTE}")],
)
def test_a_note_is_a_line_of_its_own(output, expected):  # B-41
    call = Call(None, 60)
    call.handle = SimpleNamespace(note=NOTE)
    result = {"output": output, "returncode": 255}
    noted = E2BEnvironment._with_note(None, call, result, {"bounded_capture": True})
    assert noted["output"] == expected


class Session:
    """A session that cannot be closed, as in a forked child."""

    def __init__(self):
        self.closes = 0

    def close(self):
        self.closes += 1
        raise RuntimeError("this process is a child")


def environment():
    made = E2BEnvironment.__new__(E2BEnvironment)
    made._session, made._closing, made._close_lock = Session(), None, threading.Lock()
    return made


def test_a_forked_child_cleans_up_nothing():  # B-60
    made = environment()
    made.cleanup()
    assert made._session.closes == 1
    assert made.wait_for_cleanup(0)


def test_the_collector_waits_for_nothing():  # B-95
    made = environment()
    with made._close_lock:  # it may come at any time, on any thread
        made.__del__()
    assert made._session.closes == 0
