"""One environment of Hermes: a sandbox, found or made at the first command (B-20)."""

from __future__ import annotations

import logging
import sys
import threading
import time

from tools.environments.base import BaseEnvironment, EnvironmentConnectionError

from . import settings
from .directories import Call, Directories, current_call, given
from .handle import Handle
from .native import Interrupted, SandboxError, _native, pass_on_log, wait
from .pull import Puller
from .state import State

logger = logging.getLogger(__name__)

EXIT_INTERRUPTED = 130
EXIT_NO_DIRECTORY = 126
EXIT_FAILED = 255
# At a plain exit Hermes waits 15 s for a cleanup; the pull has the first part of it (B-96).
CLEANUP_S = 14.0
PULL_S = 10.0
OFFLINE = "no sandbox is made to describe the environment"


def is_interrupted() -> bool:
    """Whether Hermes wants the calling thread's call to end."""
    try:
        from tools.interrupt import is_interrupted as asked

        return bool(asked())
    except ImportError:
        return False


class E2BEnvironment(BaseEnvironment):
    """Commands run in a sandbox; nothing ever runs on this machine (B-103)."""

    _stdin_mode = "pipe"
    _persistent = True  # outlives a turn (B-112)

    def __init__(self, *, cwd, timeout, options, metadata, home, task=None, state=True, offline=False):
        """`home`, the profile home, and `task` name the persistent scope (B-10); without a task it
        is ephemeral. state: Hermes' state in `home` goes into either."""
        self._directories = Directories()
        self._directories.default = options.get("cwd") or "/home/user"
        self._offline = offline
        self._bootstrap = threading.Lock()
        self._bootstrapped = 0  # the generation whose login shell was snapshotted
        self._generation = 0
        self._closing = None
        self._close_lock = threading.Lock()
        try:
            scope = home if task is not None else None
            self._session = _native.Session(options, metadata, scope, task, state=state)
        except (ValueError, RuntimeError) as error:
            raise EnvironmentConnectionError(
                f"E2B settings: {error}", retry_hint="correct the setting, then try again"
            ) from None
        self._state = State(self._session, home, persistent=task is not None)
        self._puller = Puller()
        pass_on_log(self._session)
        super().__init__(cwd=cwd, timeout=timeout)

    # ---- the working directory (B-115) ----

    @property
    def cwd(self) -> str:
        call = current_call.get()
        if call is not None and call.start:
            return call.start
        return self._directories.where()

    @cwd.setter
    def cwd(self, value: str) -> None:
        """Hermes assigns what a command's end showed: remembered if the command moved."""
        call = current_call.get()
        value = given(value)
        if value and value != (call.start if call else self._directories.where()):
            self._directories.remember(value)

    # ---- bring-up (B-116) ----

    def _before_execute(self) -> None:
        self._bring_up()
        call = current_call.get()
        if call is not None and call.start is None:
            call.start = self._directories.where()
        self._make_snapshot()

    def _bring_up(self) -> None:
        if self._closing is not None:
            raise SandboxError(_failure("use environment", "it was cleaned up"))
        try:
            self._session.set_api_key(settings.secret("E2B_API_KEY"))
        except ValueError as error:
            raise SandboxError(_failure("use the API key", str(error), "HE2B_ERR_KEY")) from None
        except RuntimeError as error:  # a forked child
            raise SandboxError(_failure("use environment", str(error), "HE2B_ERR_FORK")) from None
        self._puller.start()
        call = current_call.get()
        limit = call.limit if call is not None else self.timeout
        waiter = self._session.prepare(int(limit * 1000))
        wait(self._session, waiter, is_interrupted, self._serve)
        generation = self._session.generation
        if call is not None:
            call.prepared = generation
        if generation == self._generation:
            return
        if self._generation:
            mark = getattr(self, "_mark_recreated", None)
            if mark:
                mark()
        self._generation = generation
        self._directories.default = self._session.cwd
        self._remote_home = self._session.home

    def _serve(self) -> None:
        """A step of the session's that only this machine can do (B-70, B-80), if there is one."""
        step = self._session.take_step()
        if step is not None:
            self._state.do(step, is_interrupted)

    def _make_snapshot(self) -> None:
        """Hermes' login-shell bootstrap: once per sandbox, however many commands come first."""
        while not self._bootstrap.acquire(timeout=0.1):
            if is_interrupted():
                raise Interrupted
        try:
            if self._bootstrapped == self._generation:
                return
            self._snapshot_ready = False
            self._prefer_nonlogin = False
            self.init_session()
            # One that was interrupted, or lost its connection, was not tried.
            if self._snapshot_ready or not is_interrupted():
                self._bootstrapped = self._generation
        finally:
            self._bootstrap.release()

    # ---- commands ----

    def execute(self, command: str, cwd: str = "", **kwargs) -> dict:
        """Runs a command; see the base class. Trouble before it started is an error (B-49)."""
        if self._offline:
            return {"output": OFFLINE, "returncode": 1}
        directory = given(cwd)
        known = None if directory == self._directories.last() else directory
        call = Call(known, kwargs.get("timeout") or self.timeout)
        token = current_call.set(call)
        try:
            result = super().execute(command, call.cwd or "", **kwargs)
            if self._lost_directory(call, result):
                result = self._run_at_home(command, call, kwargs)
            return self._with_note(call, result, kwargs)
        except Interrupted:
            return {"output": "[Command interrupted]", "returncode": EXIT_INTERRUPTED}
        except SandboxError as error:
            return self._failed(error, command, kwargs)
        finally:
            current_call.reset(token)
            pass_on_log(self._session)

    def _lost_directory(self, call: Call, result: dict) -> bool:
        """A remembered directory that is gone: the command did not run (Hermes' wrapper says 126)."""
        return (
            call.cwd is None
            and self._directories.last() is not None
            and result.get("returncode") == EXIT_NO_DIRECTORY
            and not result.get("cwd_observed")
        )

    def _run_at_home(self, command: str, call: Call, kwargs: dict) -> dict:
        gone = call.start
        self._directories.forget()
        call.start = self._session.home
        result = super().execute(command, call.start, **kwargs)
        if kwargs.get("bounded_capture"):
            result["output"] = f"[{gone} is gone; this ran in {call.start}]\n{result['output']}"
        return result

    def _with_note(self, call: Call, result: dict, kwargs: dict) -> dict:
        """Notes enter a terminal call's output only: file tools take it for content (B-41)."""
        note = call.handle.note if call.handle is not None else None
        if note and kwargs.get("bounded_capture"):
            output = result["output"]
            separator = "" if not output or output.endswith("\n") else "\n"
            result["output"] = f"{output}{separator}{note}"
        elif note:
            logger.warning("e2b: %s", note)
        return result

    def _failed(self, error: SandboxError, command: str, kwargs: dict) -> dict:
        background = (
            kwargs.get("rewrite_compound_background") is False
            and "nohup bash -lc" in command
            and ".pid" in command
        )
        # Hermes repeats an exception in a terminal call three times (B-120), and reports one at a
        # background start as "started" (B-118).
        if background or (error.final and kwargs.get("bounded_capture")):
            return {"output": f"E2B: {error}", "returncode": EXIT_FAILED}
        raise EnvironmentConnectionError(
            error.reason, retry_hint=error.hint or "try again"
        ) from None

    def _run_bash(self, cmd_string, *, login=False, timeout=120, stdin_data=None):
        """Starts it and returns at once: time spent in here could not be interrupted."""
        text = cmd_string.encode("utf-8", "surrogateescape")
        data = stdin_data.encode("utf-8", "surrogateescape") if stdin_data is not None else None
        # Hermes watches the limit; the library's own is a little longer, for when Hermes is gone.
        limit_ms = int((float(timeout) + 5) * 1000) if timeout else 0
        call = current_call.get()
        prepared = call.prepared if call is not None else 0
        command = self._session.command(
            text, login=login, timeout_ms=limit_ms, stdin=data, prepared=prepared
        )
        handle = Handle(command, self._serve)
        if call is not None:
            call.handle = handle
        return handle

    def _kill_process(self, proc) -> None:
        proc.kill()

    def _force_kill_process(self, proc) -> None:
        proc.kill()

    def _prepare_command(self, command):
        """The host's sudo password never enters a sandbox (B-121)."""
        return command, None

    # ---- the end ----

    def cleanup(self, force_remove: bool = False) -> None:
        """Ends the environment when its last command has ended. An ephemeral sandbox is killed; a
        persistent one is left to its lease, for whoever uses its scope next (B-90, B-91)."""
        with self._close_lock:
            if getattr(self, "_session", None) is None:
                return
            if self._closing is None:
                try:
                    self._closing = self._session.close()
                except RuntimeError as error:  # a forked child: what it inherited is its parent's
                    logger.debug("e2b: not cleaned up: %s", error)
                    return
                self._puller.put(self._state.pull_at_end, self._session.close())
        if sys.is_finalizing():
            return
        self._wait_closed(time.monotonic() + CLEANUP_S)

    def __del__(self) -> None:
        """Nobody waits: where the collector runs, a lock may be held. The session ends itself beside
        (B-95)."""

    def wait_for_cleanup(self, timeout: float | None = None) -> bool:
        """True when a teardown that was put off has settled (B-96)."""
        if self._closing is None:
            return True
        limit = CLEANUP_S if timeout is None else timeout
        return self._wait_closed(time.monotonic() + limit)

    def _wait_closed(self, deadline: float) -> bool:
        """What wants to end this thread is kept until the sandbox is dealt with; the second time the
        pull is given up (B-94). Where the process waits for it, it is after a while (B-96)."""
        kept: BaseException | None = None
        pull_until = deadline - CLEANUP_S + PULL_S if _process_waits() else float("inf")
        done = False
        while not done and time.monotonic() < deadline:
            try:
                done = self._closing.wait(100)
                if not done and time.monotonic() > pull_until:
                    pull_until = float("inf")
                    self._state.abandon_pull()
                pass_on_log(self._session)
            except (KeyboardInterrupt, SystemExit, GeneratorExit) as error:
                if kept is not None:
                    self._state.abandon_pull()
                    deadline = min(deadline, time.monotonic() + 5)
                kept = kept or error
        pass_on_log(self._session)
        if kept is not None:
            raise kept
        return done


def _process_waits() -> bool:
    """Whether the end of the process may be waiting for this thread."""
    main = threading.main_thread()
    return threading.current_thread() is main or not main.is_alive()


def _failure(action: str, cause: str, code: str = "HE2B_ERR_CLOSED") -> dict:
    return {"code": code, "action": action, "cause": cause, "hint": ""}
