"""The provider `e2b`: what Hermes asks before there is an environment."""

from __future__ import annotations

import os

from agent.terminal_env_provider import TerminalEnvironmentProvider

from . import settings
from .environment import E2BEnvironment

PROBE_TASK = "prompt-backend-probe"


class E2BProvider(TerminalEnvironmentProvider):
    """Flags and factory of the backend (B-110)."""

    name = "e2b"
    display_name = "E2B"
    description = "Run commands, files and code in an E2B cloud sandbox."
    env_description = "a Linux sandbox in E2B's cloud, apart from the user's machine"
    is_remote = True
    is_container = True
    session_isolated_when_nonpersistent = True
    cache_path_base = "~/.hermes"
    strip_env_keys = frozenset({"E2B_API_KEY"})  # B-102

    def __init__(self, ctx=None):
        # The bound method reads config.yaml at each call, so settings are live.
        self.get_config = getattr(ctx, "get_config", None) or (lambda key, default=None: default)

    @property
    def skip_container_guards(self) -> bool:
        """False keeps Hermes' approval prompts for this backend (B-122)."""
        return settings.switch(self.get_config, "skip_command_guards", True)

    def _unavailable(self) -> str | None:
        """Why no environment can be made, without any request (B-102, B-123)."""
        if os.environ.get("HERMES_PLUGIN_HOST_PROCESS") == "1":
            return "terminal backends cannot run in an isolated plugin host (plugins.isolation)"
        if not settings.secret("E2B_API_KEY"):
            return "E2B_API_KEY is not set; a key comes from https://e2b.dev/dashboard"
        return None

    def is_available(self) -> bool:
        return self._unavailable() is None

    def probe(self) -> tuple[str, str]:
        reason = self._unavailable()
        return ("needs_setup", reason) if reason else ("ready", "E2B API key is set")

    def doctor_checks(self) -> list[tuple[bool, str, str]]:
        from .native import _native

        key = settings.secret("E2B_API_KEY")
        address = settings.secret("E2B_API_URL") or settings.secret("E2B_DOMAIN") or "e2b.app"
        return [
            (True, "native library", f"version {_native.version}"),
            (bool(key), "API key", "set" if key else "E2B_API_KEY is not set"),
            (True, "endpoint", _without_secrets(address)),
        ]

    def setup_instructions(self) -> str:
        return (
            "Get an API key at https://e2b.dev/dashboard and put it into ~/.hermes/.env as\n"
            "E2B_API_KEY=e2b_...; then: hermes config set terminal.backend e2b"
        )

    def create_environment(
        self, *, cwd, timeout, task_id="default", image=None, container_config=None, **kwargs
    ):
        """An environment without any request (B-20); unknown keywords are ignored (B-111)."""
        probe = task_id == PROBE_TASK
        live = settings.switch(self.get_config, "live_prompt_probe", False)
        persistent = not probe and settings.persistent(container_config)
        return E2BEnvironment(
            cwd=cwd,
            timeout=timeout,
            options=settings.native_options(self.get_config, probe=probe, persistent=persistent),
            metadata=settings.metadata(self.get_config),
            home=settings.profile_home(),
            task=task_id if persistent else None,
            state=not probe,
            offline=probe and not live,
        )


def _without_secrets(address: str) -> str:
    """An address as a table may show it: without what may stand before its @."""
    scheme, separator, rest = address.rpartition("://")
    return scheme + separator + rest.rpartition("@")[2]
