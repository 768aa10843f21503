"""Hermes' state in a sandbox: what Hermes' own FileSyncManager wants moved, is moved here.

The manager decides what to upload, to delete and to take back (B-70); it reports no failure, so that
what its callbacks met is remembered here. Steps come from the session (Session.take_step) and are
done on the thread that waits for it.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from pathlib import Path

from .archive import safe_archive
from .native import SLICE_MS, Interrupted, SandboxError, _native, one_line, pass_on_log
from .pull import Abandoned

logger = logging.getLogger(__name__)

NEVER_SENT = (".env", "config.yaml")
ROOTS = (b"skills/", b"memories/")
# A transfer that was cancelled ends within 5 s (he2b.h).
CANCELLED_S = 10


class StateError(Exception):
    """What could not be moved, in one line."""


class State:
    """The state of one profile home in one session's sandbox."""

    def __init__(self, session: _native.Session, home: str, persistent: bool = True):
        """persistent: what the sandbox alone has is still there for the next session to recover."""
        self._session = session
        self._home = home
        self._persistent = persistent
        self._brought = None  # what a pull brought beside what Hermes takes
        self._manager = None
        self._listed: dict[str, tuple[str, int]] = {}  # remote path: host path, kind
        self._sent: set[str] = set()
        self._gone: set[str] = set()  # deleted in this sync's upload already
        self._recovered = None
        self._moved = False  # something was sent in this push or sync
        self._error: BaseException | None = None  # what a callback of the manager's met
        self._interrupted = None
        self._warned = False
        self._abandoned = threading.Event()
        self._pull_step = None

    # ---- steps ----

    def do(self, step: _native.Step, interrupted) -> None:
        """Does a step and answers it. An interrupt is heard, and answered as a failure."""
        self._interrupted = interrupted
        try:
            {"recover": self._recover, "push": self._push, "sync": self._sync}[step.kind]()
        except Interrupted:
            step.fail("it was interrupted")
            raise
        except Exception as error:  # noqa: BLE001 - the session tells whoever waits
            step.fail(one_line(error))
        else:
            step.done()

    def _recover(self) -> None:
        """What the sandbox alone has comes to the host (section 8)."""
        self._recovered = None
        transfer = self._transfer()
        self._protect(transfer)
        transfer.recover()
        self._wait(transfer, self._in_call("recovering Hermes state"))
        self._list()
        why = transfer.apply([self._relative(remote) for remote in self._listed])
        _pass_on(transfer)
        if why is not None:
            raise StateError(why)
        self._recovered = transfer

    def _push(self) -> None:
        """All of it, into a sandbox of which the manager knows nothing (B-73)."""
        from tools.environments.file_sync import FileSyncManager

        self._sent = set()
        self._manager = FileSyncManager(
            self._list,
            lambda host, remote: self._upload([(host, remote)]),
            self._delete,
            sync_interval=0,
            bulk_upload_fn=self._upload,
            bulk_download_fn=self._download,
        )
        self._sync()
        if not self._moved:
            self._move({}, set())  # the manifest, and what was deleted since the last session (B-75)
        self._recovered = None

    def _sync(self) -> None:
        manager = self._manager
        if manager is None:
            raise StateError("nothing was pushed yet")
        self._moved = False
        self._error = None
        self._gone = set()
        moves_clock = hasattr(manager, "_last_sync_time")
        if moves_clock:
            manager._last_sync_time = 0.0
        manager.sync(force=True)
        if self._error is not None:
            raise self._error
        if moves_clock and not manager._last_sync_time:
            raise StateError(self._unreadable() or "Hermes could not synchronise; its log says why")

    def _unreadable(self) -> str | None:
        """The first listed file that cannot be read: the manager tells only its log."""
        for host, _kind in self._listed.values():
            try:
                with open(host, "rb") as file:
                    file.read(1)
            except FileNotFoundError:
                continue
            except OSError as error:
                return f"{error.strerror}: {host!r}; make it readable, or move it out of the way"
        return None

    # ---- what the manager asks ----

    def _list(self) -> list[tuple[str, str]]:
        """All files that belong into the sandbox, less the home's own settings (B-74)."""
        from tools.credential_files import get_credential_file_mounts
        from tools.environments.file_sync import iter_sync_files

        base = self._base()
        secret = {
            mount["container_path"].replace("/root/.hermes", base, 1)
            for mount in get_credential_file_mounts()
        }
        own = {os.path.realpath(os.path.join(self._home, name)) for name in NEVER_SENT}
        listed = {}
        for host, remote in iter_sync_files(container_base=base):
            host, remote = str(host), str(remote)
            if not remote.startswith(f"{base}/"):
                self._warn_once("%r is not below the sandbox' .hermes, and is not sent", remote)
            elif remote in secret and os.path.realpath(host) in own:
                self._warn_once("%r holds this profile's own settings, and is never sent", host)
            else:
                listed[remote] = (host, self._kind(remote, remote in secret))
        self._listed = listed
        return [(host, remote) for remote, (host, _kind) in listed.items()]

    def _upload(self, files: list[tuple[str, str]]) -> None:
        """Uploads, and what is gone with them: two round trips for both."""
        gone = self._sent - self._listed.keys()
        self._answer(self._move, {remote: str(host) for host, remote in files}, gone)
        self._sent.update(remote for _host, remote in files)
        self._sent -= gone
        self._gone = gone

    def _delete(self, paths: list[str]) -> None:
        left = set(paths) - self._gone
        if left:
            self._answer(self._move, {}, left)
            self._sent -= left

    def _answer(self, function, *args) -> None:
        """The manager logs and forgets what its callbacks raise."""
        try:
            function(*args)
        except Exception as error:
            self._error = error
            raise

    def _move(self, files: dict[str, str], gone: set[str]) -> None:
        transfer = self._transfer()
        for remote, host in files.items():
            kind = self._listed.get(remote, (host, _native.FILE_OTHER))[1]
            transfer.add(os.fsencode(host), self._relative(remote), kind)
        for remote in gone:
            transfer.remove(self._relative(remote))
        if self._recovered is not None:
            transfer.follow(self._recovered)
        transfer.push()
        self._wait(transfer, self._in_call("sending Hermes state"))
        _pass_on(transfer)
        self._moved = True

    # ---- the pull, on a thread of its own ----

    def abandon_pull(self) -> None:
        """The session goes on without it; its thread finds out later (B-94, B-96)."""
        self._abandoned.set()
        try:
            self._session.abandon_pull()
        except RuntimeError:  # a forked child
            pass

    def pull_at_end(self, closed: _native.Waiter) -> None:
        """Until the session is closed: brings the state home when the session asks for it."""
        while not self._abandoned.is_set() and not closed.wait(SLICE_MS):
            step = self._session.take_step(True)
            if step is not None:
                self._pull(step)

    def _pull(self, step: _native.Step) -> None:
        manager = self._manager
        if manager is None:
            step.fail("nothing was pushed yet")
            return
        self._pull_step = step
        # without anything that was pushed Hermes takes nothing, which is no failure
        idle = not (manager._pushed_hashes or manager._synced_files)
        self._error = None if idle else StateError("Hermes took nothing home; its log says why")
        self._attempt = 0
        once = manager._sync_back_once

        def known(lock_path):
            try:
                once(lock_path)
            except Exception as error:
                self._error = error
                raise
            self._error = None

        manager._sync_back_once = known
        try:
            from tools.environments import file_sync

            with safe_archive(file_sync):
                manager.sync_back(hermes_home=Path(self._home))
        except Exception as error:  # noqa: BLE001 - the session tells it
            self._error = error
        finally:
            manager._sync_back_once = once
        try:
            self._bring_the_rest(idle)
        except Exception as error:  # noqa: BLE001 - the session tells it
            self._error = self._error or error
        step, self._pull_step = self._pull_step, None
        if step is None:
            return
        if self._error is not None:
            step.fail(one_line(self._error))
        else:
            step.done()

    def _bring_the_rest(self, idle: bool) -> None:
        """What Hermes' own pull drops of a sandbox that ends with its session: new folders, and all
        of it where nothing was ever pushed (B-91)."""
        if self._persistent:
            return
        transfer = self._brought
        if transfer is None and idle:
            transfer = self._transfer()
            self._protect(transfer)
            transfer.recover()
            self._wait(transfer, self._unless_abandoned)
        if transfer is None:
            return
        why = transfer.apply(None)
        _pass_on(transfer)
        if why is not None:
            raise StateError(why)

    def _download(self, into: Path) -> None:
        """One attempt; from the second on the session connects before it (B-91)."""
        self._attempt += 1
        if self._attempt > 1:
            self._next_pull_step()
        self._brought = None
        transfer = self._transfer()
        self._protect(transfer)
        with open(into, "w+b") as file:
            transfer.pull(file.fileno(), not self._persistent)
            self._wait(transfer, self._unless_abandoned)
        if self._persistent:
            _pass_on(transfer)
        else:
            self._brought = transfer

    def _next_pull_step(self) -> None:
        step, self._pull_step = self._pull_step, None
        step.again()
        while not self._abandoned.is_set():
            self._pull_step = self._session.take_step(True)
            if self._pull_step is not None:
                return
            time.sleep(SLICE_MS / 1000)
        raise Abandoned

    # ---- small things ----

    def _base(self) -> str:
        return f"{self._session.home.rstrip('/')}/.hermes"

    def _relative(self, remote: str) -> bytes:
        return os.fsencode(remote[len(self._base()) + 1 :])

    def _kind(self, remote: str, secret: bool) -> int:
        if secret:
            return _native.FILE_CREDENTIAL
        if self._relative(remote).startswith(ROOTS):
            return _native.FILE_SKILL
        return _native.FILE_OTHER

    def _transfer(self) -> _native.Transfer:
        return self._session.transfer(os.fsencode(self._home))

    def _protect(self, transfer: _native.Transfer) -> None:
        """Nothing of a sandbox is written there (B-83)."""
        from tools.credential_files import get_cache_directory_mounts, get_credential_file_mounts

        for mount in get_credential_file_mounts():
            transfer.protect(os.fsencode(str(mount["host_path"])))
        for mount in get_cache_directory_mounts():
            transfer.protect(os.fsencode(str(mount["host_path"])), True)

    def _wait(self, transfer: _native.Transfer, meanwhile) -> None:
        """Waits for its end. What `meanwhile()` or a signal raises ends it, and is passed on once
        nothing is written any more: only then may a lock be let go."""
        try:
            while not transfer.wait(SLICE_MS):
                meanwhile()
        except BaseException:
            transfer.cancel()
            give_up = time.monotonic() + CANCELLED_S
            while not transfer.wait(SLICE_MS) and time.monotonic() < give_up:
                pass
            raise
        if transfer.failure is not None:
            _pass_on(transfer)
            raise SandboxError(transfer.failure)

    def _in_call(self, label: str):
        """What a call of Hermes' does while it waits."""
        began = time.monotonic()
        activity = {"start": began, "last_touch": began}

        def meanwhile() -> None:
            pass_on_log(self._session)
            _touch(activity, label)
            if self._interrupted is not None and self._interrupted():
                raise Interrupted

        return meanwhile

    def _unless_abandoned(self) -> None:
        if self._abandoned.is_set():
            raise Abandoned

    def _warn_once(self, text: str, *args) -> None:
        if not self._warned:
            logger.warning("e2b: " + text, *args)
        self._warned = True


def _pass_on(transfer: _native.Transfer) -> None:
    for level, text in transfer.notes():
        logger.log(level, "e2b: %s", text)


def _touch(activity: dict, label: str) -> None:
    """Hermes ends a call that shows no activity (B-73)."""
    try:
        from tools.environments.base import touch_activity_if_due
    except ImportError:
        return
    touch_activity_if_due(activity, label)
