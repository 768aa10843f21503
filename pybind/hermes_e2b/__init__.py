"""The terminal backend `e2b` for Hermes Agent: its tools run inside an E2B sandbox.

One package, two ways in: the entry point `e2b` of the group `hermes_agent.plugins`, and a directory
plugin (this folder as HERMES_HOME/plugins/e2b). Hermes calls `register(ctx)` on a thread of its own
under a time limit, so nothing here imports more than it needs (B-125: it never raises).
"""

import logging

__version__ = "0.1.0"

logger = logging.getLogger(__name__)


def register(ctx) -> None:
    """Registers the provider; what stands in the way is one line in the log (B-113, B-125)."""
    try:
        from .provider import E2BProvider
    except ImportError as error:
        logger.error("e2b: not available: %s", _missing(error))
        return
    try:
        ctx.register_terminal_environment_provider(E2BProvider(ctx))
    except Exception as error:  # noqa: BLE001 - a plugin must never stop its host
        logger.error("e2b: the provider was not registered: %s", error)


def _missing(error: ImportError) -> str:
    """What an import error means here, as one line that says what to do."""
    name = getattr(error, "name", None) or ""
    if name.startswith(("agent", "tools")):
        return f"this Hermes has no {name}; Hermes 0.20.6 or newer is needed"
    if name.endswith("_native"):
        return f"its native part cannot be loaded ({error}); install it again"
    return str(error)
