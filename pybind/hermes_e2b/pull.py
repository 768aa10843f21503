"""A thread on which an environment's state comes home at its end (B-96).

It exists since the first bring-up, since Python starts none while it exits, and knows nothing of the
environment until it is handed the work: one that nobody uses any more can be collected.
"""

from __future__ import annotations

import contextvars
import logging
import queue
import threading

logger = logging.getLogger(__name__)


class Abandoned(BaseException):
    """Nobody waits for the pull any more: past Hermes' own retries, which catch an Exception."""


class Puller:
    """Started once; does one piece of work, with the context of who put it there."""

    def __init__(self):
        self._work: queue.SimpleQueue = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._started = False

    def start(self) -> None:
        """Harmless when it was started before."""
        with self._lock:
            if self._started:
                return
            threading.Thread(
                target=_run, args=(self._work,), name="e2b-pull", daemon=True
            ).start()
            self._started = True

    def put(self, work, *args) -> None:
        """Runs `work(*args)`; nothing was brought up where it was never started: then it is dropped."""
        if self._started:
            self._work.put((contextvars.copy_context(), work, args))

    def __del__(self) -> None:
        self._work.put(None)


def _run(work: queue.SimpleQueue) -> None:
    item = work.get()
    if item is None:
        return
    context, function, args = item
    try:
        context.run(function, *args)
    except Abandoned:
        logger.debug("e2b: the state download was given up")
    except BaseException:  # noqa: BLE001 - nobody else would hear of it
        logger.exception("e2b: the state download failed")
