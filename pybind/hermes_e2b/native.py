"""The native part, checked when it is loaded, and its failures as Hermes' errors."""

from __future__ import annotations

import logging
import re

from . import __version__, _native

if _native.version != __version__:  # B-124: the file was replaced under a running host
    raise ImportError(
        f"hermes_e2b {__version__} found a native part of version {_native.version};"
        " restart Hermes",
        name="hermes_e2b._native",
    )

logger = logging.getLogger(__name__)

# Refusals that repeating a command cannot change (B-27, B-120).
FINAL = frozenset(
    {"HE2B_ERR_KEY", "HE2B_ERR_REFUSED", "HE2B_ERR_SETTING", "HE2B_ERR_OVERFLOW", "HE2B_ERR_FORK"}
)
SLICE_MS = 100


def wording(text: str) -> str:
    """Hermes takes any error text with the word "timeout" for exit code 124 (B-49)."""
    return re.sub("timeout", "time limit", text, flags=re.IGNORECASE)


class SandboxError(Exception):
    """A failure before a command started: action and cause, what to do, and whether it is final."""

    def __init__(self, failure: dict):
        self.code: str = failure["code"]
        self.reason = wording(f"{failure['action']}: {failure['cause']}")
        self.hint = wording(failure["hint"])
        super().__init__(f"{self.reason} ({self.hint})" if self.hint else self.reason)

    @property
    def final(self) -> bool:
        return self.code in FINAL


class Interrupted(Exception):
    """The user wants the call to end (Hermes' own interrupt, no signal)."""


def pass_on_log(session: _native.Session) -> None:
    """Logs what the library said since the last call; its thread never enters Python."""
    for level, text in session.take_log():
        logger.log(level, "e2b: %s", text)


def one_line(error: BaseException) -> str:
    """An error as a step's reason, which is one line."""
    return " ".join(str(error).split()) or type(error).__name__


def wait(session: _native.Session, waiter: _native.Waiter, interrupted, serve) -> None:
    """Waits for the answer in slices; signals and `interrupted()` are heard in between (B-116).
    `serve()` does what the session wants done on this machine meanwhile."""
    while not waiter.wait(SLICE_MS):
        serve()
        pass_on_log(session)
        if interrupted():
            raise Interrupted
    pass_on_log(session)
    failure = waiter.failure
    if failure is not None:
        raise SandboxError(failure)
