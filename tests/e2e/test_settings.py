"""Settings of an environment: which one wins, and what becomes of those that cannot be used."""

import hermes_e2b.settings as settings
import pytest


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    monkeypatch.delenv("TERMINAL_LIFETIME_SECONDS", raising=False)
    monkeypatch.setattr(settings, "secret", {}.get)


def options(values=None, **mode):
    values = values or {}
    return settings.native_options(lambda key, default=None: values.get(key, default), **mode)


def test_the_plugins_own_setting_wins(monkeypatch):  # B-1
    assert "lease_seconds" not in options(persistent=True)
    monkeypatch.setenv("TERMINAL_LIFETIME_SECONDS", "900")
    assert options(persistent=True)["lease_seconds"] == "900"
    assert options({"lease_seconds": 600}, persistent=True)["lease_seconds"] == "600"


def test_every_setting_reaches_the_library():  # B-2
    values = {
        "template": "mine",
        "cwd": "/work",
        "lease_seconds": 600,
        "command_grace_seconds": 0,
        "allow_internet_access": False,
        "secure": False,
    }
    given = options(values, persistent=True)
    assert {name: given[name] for name in values} == {k: str(v) for k, v in values.items()}


def test_an_ephemeral_sandbox_outlives_the_terminal(monkeypatch):  # B-30
    assert options()["lease_seconds"] == "420"
    monkeypatch.setenv("TERMINAL_LIFETIME_SECONDS", "900")
    assert options()["lease_seconds"] == "1020"
    assert options({"lease_seconds": 3600})["lease_seconds"] == "3600"
    assert options({"lease_seconds": 60})["lease_seconds"] == "1020"
    # what is no number is left to the library, which warns of it (B-3)
    assert options({"lease_seconds": "soon"})["lease_seconds"] == "soon"
    monkeypatch.setenv("TERMINAL_LIFETIME_SECONDS", "an hour")
    assert options({"lease_seconds": 60})["lease_seconds"] == "420"


def test_the_probes_lease_is_short():  # constants: probe lease cap
    assert options({"lease_seconds": 3600}, probe=True)["lease_seconds"] == "120"


@pytest.mark.parametrize(
    "config, kept",
    [
        (None, True),
        ({}, True),
        ({"container_persistent": True}, True),
        ({"container_persistent": "yes"}, True),
        ({"container_persistent": "what"}, True),
        ({"container_persistent": False}, False),
        ({"container_persistent": "off"}, False),
    ],
)
def test_the_mode(config, kept):  # B-5
    assert settings.persistent(config) is kept
