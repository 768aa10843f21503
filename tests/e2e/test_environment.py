"""hermes_e2b.environment by itself: what needs no sandbox."""

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
    call = Call(None)
    call.handle = SimpleNamespace(note=NOTE)
    result = {"output": output, "returncode": 255}
    noted = E2BEnvironment._with_note(None, call, result, {"bounded_capture": True})
    assert noted["output"] == expected
