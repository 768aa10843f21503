"""Where each Hermes session last was in the sandbox (B-115).

Hermes passes `/root`, or nothing, with every command and forgets any directory under /home, so that a
plain `cd` would be lost. Such a call means "where this session last was".
"""

from __future__ import annotations

import contextvars

NOT_GIVEN = ("", "/root")
# Directories of other machines, which no sandbox has.
FOREIGN = ("/Users/",)


def session_key() -> str:
    """Hermes' key of the session that calls; "" where there is none."""
    try:
        from tools.approval import get_current_session_key

        return get_current_session_key(default="") or ""
    except Exception:  # noqa: BLE001 - an older or leaner host
        return ""


def given(cwd: str | None) -> str | None:
    """The directory that a call names, or None if it names none that could be in the sandbox."""
    if not cwd or cwd in NOT_GIVEN or cwd.startswith(FOREIGN):
        return None
    return cwd if cwd.startswith(("/", "~")) else None


class Call:
    """One execute(): what it was given, and where it started once that is known."""

    def __init__(self, cwd: str | None, limit: float):
        self.cwd = cwd
        self.start: str | None = cwd
        self.limit = limit  # seconds that its command may take
        self.prepared = 0  # the generation of the sandbox that was made ready for it
        self.handle = None


current_call: contextvars.ContextVar[Call | None] = contextvars.ContextVar("call", default=None)


class Directories:
    """The remembered directories of one environment."""

    def __init__(self):
        self._last: dict[str, str] = {}
        self.default = ""

    def last(self) -> str | None:
        return self._last.get(session_key())

    def where(self) -> str:
        """Where a command of the calling session starts."""
        return self.last() or self.default

    def remember(self, directory: str) -> None:
        if directory:
            self._last[session_key()] = directory

    def forget(self) -> None:
        self._last.pop(session_key(), None)
