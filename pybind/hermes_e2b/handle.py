"""A running command as Hermes' base environment wants it: the ProcessHandle duck type (B-117)."""

from __future__ import annotations

import os

from .native import SLICE_MS, SandboxError, _native

NOTES = {
    _native.UNKNOWN: "[The end of this command was not seen: {cause}. It was not run again.]",
    _native.INCOMPLETE: "[The output of this command may be incomplete: {cause}.]",
}


class Handle:
    """Has a real pipe and no `pid`: Hermes would kill that pid on this machine."""

    def __init__(self, command: _native.Command, serve):
        """`serve()` does what the session wants done on this machine before the command starts."""
        self._command = command
        self._serve = serve
        self.stdout = os.fdopen(command.take_fd(), "r", encoding="utf-8", errors="replace")
        self.returncode: int | None = None
        self._hermes_stdin_errors: list[BaseException] = []

    def poll(self) -> int | None:
        """The exit code, or None; waits a little itself, which Hermes' own polling would not."""
        return self._settle(SLICE_MS)

    def wait(self, timeout: float | None = None) -> int | None:
        """The exit code; None when `timeout` seconds pass before it."""
        left = None if timeout is None else timeout * 1000
        while left is None or left > 0:
            slice_ms = SLICE_MS if left is None else min(SLICE_MS, left)
            if self._settle(int(slice_ms) or 1) is not None:
                break
            left = None if left is None else left - slice_ms
        return self.returncode

    def kill(self) -> None:
        """Ends the command's process group; its output ends at once (B-43)."""
        self._command.kill()

    terminate = kill

    @property
    def note(self) -> str | None:
        """A line for the user when the outcome is not known, or not all of the output (B-41)."""
        failure = self._command.failure
        note = NOTES.get(self._command.outcome)
        return note.format(cause=failure["cause"]) if note and failure else None

    def _settle(self, ms: int) -> int | None:
        if self.returncode is not None:
            return self.returncode
        if not self._command.wait(ms):
            self._serve()
            return None
        if self._command.outcome == _native.NOT_STARTED:
            raise SandboxError(self._command.failure)
        failure = self._command.stdin_failure
        if failure:
            self._hermes_stdin_errors.append(OSError(failure["text"]))
        self.returncode = self._command.exit_code
        return self.returncode
