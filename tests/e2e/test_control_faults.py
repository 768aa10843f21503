"""What a person at a shell meets when the control plane misbehaves, played by the scripted peer in
front of e2b-local: the answer, and how many sandboxes were made for it (B-22, B-25, B-27). Waits
that would be longer than a second or two are played in C, where they can be shortened:
tests/unit/e2b/test_control_faults.c, with the same scripts."""
import json
import re

import pytest
import test_cli
from scripted_peer import scripts

LISTED = "GET /v2/sandboxes"
CREATED = "POST /sandboxes"


def run(peer, *arguments):
    """Exit code, stdout, stderr."""
    ran = test_cli.run(peer.environment, *arguments)
    return ran.returncode, ran.stdout.decode(), ran.stderr.decode()


def complaint(ran, code=125):
    """What it said in its one line, having done nothing."""
    assert ran[:2] == (code, ""), ran
    assert ran[2].startswith("hermes-e2b: ") and ran[2].count("\n") == 1, ran
    return ran[2]


@pytest.fixture
def empty(server):
    """The server, without a sandbox: before and, if nobody forgot one, after."""
    server.kill_all()
    yield server
    left = server.api("GET", "/v2/sandboxes")[2]
    server.kill_all()
    assert left == []


# ---- a create whose answer is lost: found again, used, and ended; never two ----


@pytest.mark.parametrize("script", scripts("2?-create-lost-*"))
def test_a_create_that_is_lost(peer, empty, script):  # B-25
    it = peer("include " + script, empty)
    assert run(it, "run", "--", "echo ran") == (0, "ran\n", "")
    assert it.count(CREATED) == 1
    # found by the token of the attempt at the first look, and taken over by a connect
    created, listed, connected, *_ = it.requests()
    attempt = json.loads(created["body"])["metadata"]["hermes_attempt"]
    assert created["headers"]["idempotency-key"] == attempt
    assert listed["path"].startswith("/v2/sandboxes?") and "hermes_attempt%3D" + attempt in listed["path"]
    assert re.fullmatch("/sandboxes/[a-z0-9]+/connect", connected["path"])
    assert it.count("DELETE /sandboxes/*") == 1 and it.count(LISTED) == 1


def test_a_create_that_the_list_shows_late(peer, empty):  # B-25: looked for again after 2 s
    it = peer("include 25-create-shown-late", empty)
    assert run(it, "run", "--", "echo ran") == (0, "ran\n", "")
    assert it.count(CREATED) == 1 and it.count(LISTED) == 2
    first, second = [r["at"] for r in it.requests() if r["path"].startswith("/v2/sandboxes?")]
    assert second - first > 1.9


def test_a_create_that_is_lost_and_no_look_tells(peer, empty):  # B-22
    """Whether it was made or not: no second attempt is made."""
    for script, words in (("14-look-up-401", "Invalid API key Please check it"),
                          ("15-look-up-403", "team is banned")):
        it = peer("expect POST /sandboxes\n  do reset\ninclude " + script, empty)
        said = complaint(run(it, "run", "--", "echo ran"))
        assert "create sandbox: list sandboxes: " + words in said
        assert "a sandbox may have been made; its lease ends it" in said
        assert it.count(CREATED) == 1 and it.count(LISTED) == 1 and it.count("requests") == 2


# Lost twice where libcurl by itself sends it once more: a request without a body, on a connection that
# was used before.
LOST_KILL = "expect DELETE /sandboxes/*\n  do lose-before-head\n  times 2\n"


def test_a_kill_that_is_lost(peer, empty):  # B-91: one that succeeds, repeated while it is not known
    it = peer(LOST_KILL, empty)
    assert run(it, "run", "--", "echo ran") == (0, "ran\n", "")
    assert it.count(CREATED) == 1 and it.count("DELETE /sandboxes/*") == 3
    assert it.requests()[-1]["status"] == 404       # gone is fine


# ---- a server that says no, or not now (B-27) ----


@pytest.mark.parametrize("answer, words, setting", [
    ('400 application/json {"code":400,"message":"Timeout cannot be greater than 1 hours"}',
     "Timeout cannot be greater than 1 hours", "lease_seconds"),
    ('401 application/json {"code":401,"message":"Invalid API key\\n\\u001b[31m"}',
     "Invalid API key \\x1B[31m", "E2B_API_KEY"),
    ('403 application/json {"code":403,"message":"no access to template \'x\'"}',
     "no access to template 'x'", "template"),
    ('404 application/json {"code":404,"message":"template \'x\' not found"}',
     "template 'x' not found", "template"),
    ('500 application/json {"code":500,"message":"Failed to place sandbox"}',
     "Failed to place sandbox", ""),
    ("201 application/json null", "the answer does not describe a sandbox", "E2B_API_URL"),
    ("201 application/json []", "the answer does not describe a sandbox", "E2B_API_URL"),
    ("200 text/html <html>welcome</html>", "the answer does not describe a sandbox", "E2B_API_URL"),
])
def test_a_create_that_is_refused(peer, empty, answer, words, setting):
    it = peer("expect POST /sandboxes\n  do answer " + answer, empty)
    said = complaint(run(it, "run", "--", "echo ran"))
    assert "create sandbox: " + words in said and setting in said
    # what says that it made something is looked for once before it is given up (B-25)
    looks = 1 if answer.startswith("201") else 0
    assert it.count("requests") == 1 + looks and it.count("GET /v2/sandboxes") == looks


def test_a_create_that_does_not_say_what_it_made(peer, empty):  # B-25: nobody else would end it
    it = peer("expect POST /sandboxes\n  do replace-body null", empty)
    assert run(it, "run", "--", "echo ran") == (0, "ran\n", "")
    assert it.count(CREATED) == 1 and not empty.ids()


@pytest.mark.parametrize("script, creates", [
    ("30-create-409-twice", 3),
    ("32-create-retry-after-seconds", 2),
    ("33-create-retry-after-date", 2),
    ("34-create-retry-after-nonsense", 3),
])
def test_a_create_that_is_put_off(peer, empty, script, creates):
    it = peer("include " + script, empty)
    assert run(it, "run", "--", "echo ran") == (0, "ran\n", "")
    asked = [r for r in it.requests() if r["method"] == "POST" and r["path"] == "/sandboxes"]
    assert len(asked) == creates and [r["status"] for r in asked] == (creates - 1) * [asked[0]["status"]] + [201]
    # all of them one attempt
    assert len({r["headers"]["idempotency-key"] for r in asked}) == 1
    assert len({r["body"] for r in asked}) == 1
    if "seconds" in script or "date" in script:
        assert asked[1]["at"] - asked[0]["at"] >= 1


def test_a_create_that_is_put_off_for_a_day(peer, empty):
    it = peer("include 35-create-retry-after-a-day", empty)
    said = complaint(run(it, "run", "--", "echo ran"))
    assert "create sandbox: Rate limit exceeded" in said and "wait 86400 s" in said
    assert it.count("requests") == 1


def test_a_server_that_wants_no_repeat(peer, empty):
    for answer in ("429", '409 application/json {"code":409,"message":"in flight"}', "503 text/html <html>"):
        it = peer("expect POST /sandboxes\n  do answer " + answer + "\n  do header Should-Retry: false", empty)
        assert "create sandbox: " in complaint(run(it, "run", "--", "echo ran"))
        assert it.count("requests") == 1


# ---- a look-up that does not tell: an error with its cause, never an empty list (B-22) ----


@pytest.mark.parametrize("script, words", [
    ("10-look-up-null", "not a list of sandboxes as E2B's API gives it (check E2B_API_URL)"),
    ("11-look-up-object", "not a list of sandboxes as E2B's API gives it (check E2B_API_URL)"),
    ("14-look-up-401", "Invalid API key Please check it (check E2B_API_KEY"),
    ("15-look-up-403", "team is banned (check the account)"),
])
def test_a_look_up_that_does_not_tell(peer, empty, script, words):
    it = peer("include " + script, empty)
    said = complaint(run(it, "list"))
    assert "list sandboxes: " in said and words in said
    assert it.count("requests") == 1 and it.count(CREATED) == 0
    assert complaint(run(it, "list", "--json")) == said


@pytest.mark.parametrize("answer, words", [
    ("429 text/html <html>", "HTTP 429"),
    ('500 application/json {"code":500,"message":"Error listing sandboxes"}', "Error listing sandboxes"),
    ("503 text/html <html>", "HTTP 503, in a form that is not E2B's"),
])
def test_a_look_up_that_is_put_off(peer, empty, answer, words):
    """Once, and it is had all the same; for ever, and the error has the cause."""
    made = empty.create(metadata={"hermes_plugin": "e2b-terminal"})
    it = peer("expect GET /v2/sandboxes\n  do answer " + answer, empty)
    code, out, err = run(it, "list")
    assert (code, err) == (0, "") and made.id in out and it.count(LISTED) == 2
    it = peer("expect GET /v2/sandboxes\n  do answer " + answer + "\n  do header Should-Retry: false", empty)
    assert words in complaint(run(it, "list")) and it.count("requests") == 1
    empty.kill_all()


def test_a_look_up_in_pieces(peer, empty):
    """One byte at a time, cut on the way and had the second time; pages that belong together."""
    made = [empty.create(metadata={"hermes_plugin": "e2b-terminal"}).id for _ in range(2)]
    it = peer("expect GET /v2/sandboxes\n  do cut-after 1 reset\n"
              "expect GET /v2/sandboxes\n  do trickle", empty)
    code, out, err = run(it, "list", "--json")
    assert (code, err) == (0, "") and {item["id"] for item in json.loads(out)} == set(made)
    assert it.count(LISTED) == 2
    # half of the pages is nothing
    it = peer("expect GET /v2/sandboxes\n  do header X-Next-Token: more\n"
              "expect GET /v2/sandboxes?*nextToken=more\n  do answer 403", empty)
    assert "HTTP 403" in complaint(run(it, "list"))
    assert it.count(LISTED) == 2
    empty.kill_all()


# ---- the other calls: said again, since they can be ----


def test_a_connect_that_is_lost(peer, empty):
    made = empty.create()
    for fault in ("lose-before-head", "cut-after 10", "reset", "replace-status 503", "replace-status 409"):
        it = peer("expect POST /sandboxes/*/connect\n  do " + fault, empty)
        code, _, err = run(it, "connect", "--timeout=600", made.id)
        assert (code, err) == (0, ""), fault
        assert it.count("POST /sandboxes/*/connect") == 2 and it.count("requests") == 2 + it.count("GET *")
    empty.kill_all()


def test_a_connect_to_another(peer, empty):  # B-34
    made = empty.create()
    it = peer('expect POST /sandboxes/*/connect\n  do replace-body {"sandboxID":"i0000000000000000000x"}', empty)
    said = complaint(run(it, "run", "--sandbox", made.id, "--", "echo ran"))
    assert "connect to sandbox: " in said and it.count(CREATED) == 0
    empty.kill_all()


def test_a_show_that_is_lost(peer, empty):
    made = empty.create()
    it = peer("expect GET /sandboxes/*\n  do cut-after 10\nexpect GET /sandboxes/*\n  do replace-body null", empty)
    assert "look at sandbox: " in complaint(run(it, "show", made.id))
    assert it.count("GET /sandboxes/*") == 2
    empty.kill_all()


def test_kill_and_pause_that_are_lost(peer, empty):
    made = empty.create(autoPause=True, metadata={"hermes_plugin": "e2b-terminal"})
    it = peer("expect POST /sandboxes/*/pause\n  do lose-before-head\n" + LOST_KILL, empty)
    assert run(it, "pause", "--yes", made.id)[0] == 0
    assert made.detail()["state"] == "paused"
    assert run(it, "kill", "--yes", made.id)[0] == 0
    assert it.count("POST /sandboxes/*/pause") == 2 and it.count("DELETE /sandboxes/*") == 3
