"""Hermes' own state in a persistent sandbox: it arrives, it changes, it comes home. A real Hermes."""

import os
import stat

import pytest
from hermes_host import Host

START = "POST /process.Process/Start"


@pytest.fixture
def home(tmp_path):
    """A profile home with a skill, a memory, a credential file and its own settings."""
    home = tmp_path / "home"
    write(home / "skills" / "one" / "SKILL.md", "---\nname: one\ndescription: one\n---\nfirst\n")
    write(home / "skills" / "one" / "run.sh", "#!/bin/sh\necho runs\n").chmod(0o755)
    write(home / "token.json", "token-1\n")
    write(home / ".env", "OWN_SECRET=not-for-a-sandbox\n")
    return home


@pytest.fixture
def start(server, home):
    """Starts a Hermes in that home: start(**what Host takes)."""
    started = []

    def make(environment=None, credentials="token.json", **options):
        started.append(Host(
            home, {**server.environment, **(environment or {})}, persistent="true",
            terminal=", credential_files: [%s]" % credentials, **options))
        return started[-1]

    yield make
    for host in started:
        host.end()
    server.kill_all()


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def shown(host, command):
    result = host.terminal(command)
    assert result["exit_code"] == 0, (result, host.log_text())
    return result["output"].strip()


# ---- into the sandbox ----


def test_it_is_there_before_the_first_command(start, home):  # B-70, B-71
    os.utime(home / "skills" / "one" / "SKILL.md", (1_600_000_000, 1_600_000_000))
    host = start()
    assert shown(host, "~/.hermes/skills/one/run.sh; tail -n 1 ~/.hermes/skills/one/SKILL.md") == \
        "runs\nfirst"
    assert shown(host, "stat -c %Y ~/.hermes/skills/one/SKILL.md") == "1600000000"
    assert shown(host, "cat ~/.hermes/token.json") == "token-1"


def test_each_command_sees_what_changed_here(start, home):  # B-70
    host = start()
    shown(host, "true")
    write(home / "skills" / "one" / "SKILL.md", "changed\n")
    write(home / "skills" / "two" / "SKILL.md", "new\n")
    assert shown(host, "cat ~/.hermes/skills/*/SKILL.md") == "changed\nnew"
    (home / "token.json").unlink()
    (home / "skills" / "two" / "SKILL.md").unlink()
    assert shown(host, "ls ~/.hermes/token.json ~/.hermes/skills/two/SKILL.md 2>&1 | "
                       "grep -c 'No such'") == "2"


def test_odd_names_arrive(start, home):  # B-72
    names = ["-n", "two\nlines", "a'b\"c", "$(id)", "ü" * 100, " blank "]
    for name in names:
        write(home / "skills" / "odd" / name, name)
    host = start()
    assert shown(host, "ls -A ~/.hermes/skills/odd | wc -l") == str(len(names) + 1)
    for name in names[2:4]:
        assert name in shown(host, "cat ~/.hermes/skills/odd/*")


def test_the_homes_own_settings_never_go(start, home):  # B-74
    write(home / "skills" / "x" / "config.yaml", "ordinary: 1\n")
    host = start(credentials=".env, config.yaml, token.json")
    assert shown(host, "cat ~/.hermes/skills/x/config.yaml") == "ordinary: 1"
    assert shown(host, "ls -A ~/.hermes").split() == ["skills", "token.json"]
    assert shown(host, "grep -rl not-for-a-sandbox ~ /tmp 2>/dev/null | wc -l") == "0"
    assert host.log_text().count("never sent") == 1


def test_a_file_that_cannot_be_read_is_named(start, home):  # B-73
    if os.geteuid() == 0:
        # root reads anything: a name that leads in a circle cannot be read by anybody
        pytest.skip("needs a user who is not root")
    (home / "skills" / "one" / "SKILL.md").chmod(0)
    host = start()
    result = host.terminal("echo ran")
    assert "initial state upload" in str(result) and "SKILL.md" in str(result)


# ---- and home ----


def test_the_end_brings_changes_home(start, home):  # B-91
    host = start()
    shown(host, "echo 'by the agent' > ~/.hermes/skills/one/SKILL.md")
    assert host.end() == 0, host.log_text()
    assert (home / "skills" / "one" / "SKILL.md").read_text() == "by the agent\n", host.log_text()
    assert (home / "token.json").read_text() == "token-1\n"


def test_what_only_the_sandbox_has_is_recovered(start, home):  # B-62, B-80, B-81
    host = start()
    shown(host, "mkdir -p ~/.hermes/skills/made ~/.hermes/memories;"
                "echo made > ~/.hermes/skills/made/SKILL.md; chmod 755 ~/.hermes/skills/made/SKILL.md;"
                "echo note > ~/.hermes/memories/MEMORY.md;"
                "echo theirs > ~/.hermes/skills/one/SKILL.md")
    host.kill()
    write(home / "skills" / "one" / "SKILL.md", "ours\n")
    host = start()
    assert shown(host, "cat ~/.hermes/skills/one/SKILL.md ~/.hermes/skills/made/SKILL.md") == \
        "ours\nmade"
    made = home / "skills" / "made" / "SKILL.md"
    assert made.read_text() == "made\n" and made.stat().st_mode & stat.S_IXUSR
    assert (home / "memories" / "MEMORY.md").read_text() == "note\n"
    [parked] = (home / "cache" / "e2b-recovered").glob("*/skills/one/SKILL.md")
    assert parked.read_text() == "theirs\n"
    assert "skills/one/SKILL.md" in host.log_text()


def test_deletions_between_sessions(start, home):  # B-75
    write(home / "skills" / "two" / "SKILL.md", "two\n")
    host = start()
    shown(host, "true")
    host.end()
    (home / "token.json").unlink()
    (home / "skills" / "two" / "SKILL.md").unlink()
    host = start()
    assert shown(host, "ls ~/.hermes/token.json ~/.hermes/skills/two/SKILL.md 2>&1 | "
                       "grep -c 'No such'") == "2"
    assert not (home / "skills" / "two" / "SKILL.md").exists()
    assert not (home / "token.json").exists()


def test_no_skills_here_deletes_none_there(start, home):  # B-75
    host = start()
    shown(host, "true")
    host.end()
    (home / "skills").rename(home / "elsewhere")
    host = start()
    assert shown(host, "cat ~/.hermes/skills/one/run.sh | wc -l") == "2"
    assert (home / "skills" / "one" / "run.sh").exists(), host.log_text()


# ---- what it costs ----


def test_round_trips(server, start, home, peer):
    """Create with push 6, a command 1, a push of a change 2 before it, both kinds 3; attach with
    recovery and push 7."""
    it = peer("beside GET /sandboxes/*", server)
    through = it.environment
    host = start(through)
    shown(host, "echo word-one")
    assert turn(it, "word-one", snapshot=True) == 6
    before = it.count("turns")
    shown(host, "echo word-two")
    assert turn(it, "word-two") - before == 1
    write(home / "skills" / "one" / "SKILL.md", "changed\n")
    before = it.count("turns")
    shown(host, "echo word-three")
    assert turn(it, "word-three") - before == 3
    write(home / "skills" / "one" / "SKILL.md", "changed again\n")
    (home / "token.json").unlink()
    before = it.count("turns")
    shown(host, "echo word-four")
    assert 3 <= turn(it, "word-four") - before <= 4
    host.kill()
    before = it.count("turns")
    host = start(through)
    shown(host, "echo word-five")
    assert turn(it, "word-five", snapshot=True) - before == 7


def turn(peer, word, snapshot=False):
    """The turn of the Start whose command has this word; snapshot: less Hermes' own login-shell
    command before it (B-116), which the budgets leave out."""
    [number] = [r["turn"] for r in peer.requests() if word in r["body"]]
    return number - snapshot
