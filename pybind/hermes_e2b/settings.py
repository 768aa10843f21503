"""Settings of one environment: the plugin's own, then Hermes' terminal lifetime, then defaults (B-1)."""

from __future__ import annotations

import logging
import os

logger = logging.getLogger(__name__)

# Handed to the library as text; it reads them, and warns about what cannot be read (B-2, B-3).
NATIVE = (
    "template",
    "cwd",
    "lease_seconds",
    "command_grace_seconds",
    "allow_internet_access",
    "secure",
)
ADDRESSES = {"E2B_DOMAIN": "domain", "E2B_API_URL": "api_url", "E2B_SANDBOX_URL": "sandbox_url"}
LIFETIME = "TERMINAL_LIFETIME_SECONDS"
PROBE_LEASE = "120"


def secret(name: str) -> str | None:
    """A secret of the calling thread's profile; none if Hermes will not say (B-7)."""
    try:
        from agent.secret_scope import get_secret

        return get_secret(name) or None
    except Exception:  # noqa: BLE001 - an unscoped thread has no secrets, never the process's
        return None


def persistent(container_config) -> bool:
    """Whether the sandbox is kept for the next session (B-5); kept where that cannot be read."""
    value = (container_config or {}).get("container_persistent", True)
    return str(value).strip().lower() not in ("false", "0", "no", "off")


def profile_home() -> str:
    """The profile home as Hermes names profiles: the first text of a scope (B-10)."""
    import hermes_constants

    key = getattr(hermes_constants, "hermes_home_key", None)
    return key() if key else os.path.realpath(hermes_constants.get_hermes_home())


def native_options(
    get_config, *, probe: bool = False, persistent: bool = False
) -> dict[str, str]:
    """The library's options for a new environment."""
    options = {}
    lifetime = os.environ.get(LIFETIME)
    if lifetime:
        options["lease_seconds"] = lifetime
    for name in NATIVE:
        value = get_config(name)
        if value is not None:
            options[name] = str(value)
    if not persistent:
        options["lease_seconds"] = _ephemeral_lease(options.get("lease_seconds"), lifetime)
    for variable, name in ADDRESSES.items():
        value = secret(variable)
        if value:
            options[name] = value
    if probe:
        options["lease_seconds"] = PROBE_LEASE
    ca_file = certifi_file()
    if ca_file:
        options["ca_file"] = ca_file
    return options


def _ephemeral_lease(lease: str | None, lifetime: str | None) -> str:
    """Its end is the sandbox's: so it outlives the environment, which Hermes ends after its
    lifetime, by two minutes (B-30). What is no number is the library's to warn of (B-3)."""
    try:
        least = int(lifetime) if lifetime else 300
    except ValueError:
        least = 300
    try:
        return str(max(int(lease) if lease else 300, least + 120))
    except ValueError:
        return lease


def certifi_file() -> str | None:
    """certifi's bundle, where the usual variables do not name another one (B-101)."""
    if any(os.environ.get(n) for n in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")):
        return None
    try:
        import certifi

        return certifi.where()
    except Exception:  # noqa: BLE001 - then the library looks in the system's places
        return None


def metadata(get_config) -> dict[str, str]:
    """The user's metadata as texts; what is no mapping is ignored (B-4)."""
    value = get_config("metadata")
    if value is None:
        return {}
    if not isinstance(value, dict):
        logger.warning("e2b: setting metadata: %r is no mapping and is ignored", value)
        return {}
    return {k: str(v) for k, v in value.items() if isinstance(k, str) and k and v is not None}


def switch(get_config, name: str, default: bool) -> bool:
    """A switch that only the plugin reads; what cannot be read is off, the safer value (B-3)."""
    value = get_config(name)
    if value is None:
        return default
    text = str(value).strip().lower()
    if text in ("true", "1", "yes", "on"):
        return True
    if text not in ("false", "0", "no", "off"):
        logger.warning("e2b: setting %s: %r cannot be used, false is used instead", name, value)
    return False
