"""The control plane of e2b-local over plain HTTP (wire A)."""
import base64
import datetime
import email.utils
import json
import threading
import time
import urllib.parse
from pathlib import Path

import pytest
from local_server import CUT, until

NEVER = "i00000000000000000000"


def parsed(stamp):
    """A time of the wire; Python's parser wants at most six digits."""
    whole, _, fraction = stamp.rstrip("Z").partition(".")
    return datetime.datetime.fromisoformat("%s.%s+00:00" % (whole, (fraction + "000000")[:6]))


# ---- keys (A.3) ---------------------------------------------------------------------------------


@pytest.mark.parametrize("key, words", [
    (None, "authorization header is missing"),
    ("sk-secret", "authorization header is malformed"),
    ("e2b_" + "0" * 40, "Invalid API key"),
    ("e2b_", "Invalid API key"),
])
def test_a_key_that_is_not_ours(server, key, words):
    status, _, error = server.api("GET", "/v2/sandboxes", headers={"X-API-Key": key})
    assert status == 401
    assert error["code"] == 401 and error["message"].startswith(words)


def test_each_answer_has_the_date(server):
    """wire H; of both planes, whatever the status."""
    sandbox = server.create(secure=True)
    path = "/sandboxes/" + sandbox.id
    key = {"X-API-Key": server.key}
    answers = [server.api("GET", "/v2/sandboxes"), server.api("GET", path), server.api("POST", path + "/timeout", {"timeout": 60}),
               server.api("POST", path + "/connect", {}), server.api("GET", "/v2/sandboxes", headers={"X-API-Key": ""}),
               server.api("GET", "/sandboxes/" + NEVER), server.api("PUT", "/sandboxes", {}),
               server.api("POST", path + "/resume", {}), server.request("POST", "/sandboxes", b" " * 2000000, key),
               server.request("GET", "/" + "x" * 20000, None, key), server.request("GET", "/", None, {"Content-Length": "x"}),
               server.request("GET", "/health"), sandbox.request("GET", "/health"), sandbox.request("GET", "/files?path=none"),
               sandbox.request("GET", "/nothing"), sandbox.request("POST", "/init", b"{}"),
               server.request("GET", "/health", None, {"E2b-Sandbox-Id": NEVER, "E2b-Sandbox-Port": "49983"}),
               server.request("GET", "/health", None, {"E2b-Sandbox-Id": NEVER}),
               server.api("DELETE", path)]
    assert {status for status, _, _ in answers} >= {200, 204, 400, 401, 404, 405, 409, 413, 414, 502}
    for status, fields, _ in answers:
        date = email.utils.parsedate_to_datetime(fields["date"])
        assert fields["date"].endswith(" GMT") and abs(date.timestamp() - time.time()) < 5, status


# ---- create (A.6) -------------------------------------------------------------------------------


def test_create_answers_201_with_what_sdks_require(server):
    sandbox = server.create(secure=True, metadata={"pool": "a"}, envVars={"A": "1"})
    made = sandbox.made
    assert made["clientID"] == "6532622b" and made["templateID"] == "base"
    assert made["sandboxID"][0] == "i" and len(made["sandboxID"]) == 21
    assert len(made["envdAccessToken"]) == 64
    assert [int(n) for n in made["envdVersion"].split(".")] >= [0, 6, 2]
    server.api("DELETE", "/sandboxes/" + sandbox.id)


def test_only_a_secure_sandbox_has_a_token(server):
    sandbox = server.create()
    assert "envdAccessToken" not in sandbox.made
    assert sandbox.run("echo free") == "free\n"
    server.api("DELETE", "/sandboxes/" + sandbox.id)


def test_v2_is_always_secure(server):
    status, _, made = server.api("POST", "/v2/sandboxes", {"templateID": "base", "secure": False})
    assert status == 201 and len(made["envdAccessToken"]) == 64
    detail = server.api("GET", "/sandboxes/" + made["sandboxID"])[2]
    lease = parsed(detail["endAt"]) - parsed(detail["startedAt"])
    assert round(lease.total_seconds()) == 300
    server.api("DELETE", "/sandboxes/" + made["sandboxID"])


@pytest.mark.parametrize("members, status, words", [
    ({"templateID": None}, 400, "templateID"),
    ({"templateID": 5}, 400, "templateID"),
    ({"templateID": " "}, 400, "Invalid template reference"),
    ({"templateID": "nothing"}, 404, "template 'nothing' not found"),
    ({"templateID": "base:v7"}, 404, "tag 'v7' does not exist for template 'base'"),
    ({"timeout": 0}, 400, "Timeout must be greater than 0"),
    ({"timeout": -1}, 400, "validation error: "),
    ({"timeout": "60"}, 400, "validation error: "),
    ({"timeout": 2 ** 40}, 400, "validation error: "),
    ({"timeout": 90000}, 400, "Timeout cannot be greater than 24 hours"),
    ({"autoPauseMemory": False}, 400, "autoPauseMemory=false only applies when autoPause is true."),
    ({"autoPause": True, "autoPauseMemory": False, "autoResume": {"enabled": True}}, 400, "autoResume"),
    ({"autoPause": "yes"}, 400, "validation error: "),
    ({"autoResume": True}, 400, "validation error: "),
    ({"metadata": {"a": 1}}, 400, "validation error: "),
    ({"metadata": []}, 400, "validation error: "),
    ({"envVars": {"A": None}}, 400, "validation error: "),
    ({"envVars": {"A": "x" * 200000}}, 400, "envVars"),
])
def test_create_refuses(server, members, status, words):
    seen, _, error = server.api("POST", "/sandboxes", {"templateID": "base", "timeout": 60, **members})
    assert (seen, error["code"]) == (status, status)
    assert words in error["message"]


@pytest.mark.parametrize("name", ["base", " BASE ", "base:default"])
def test_template_names_are_trimmed_and_lowered(server, name):
    sandbox = server.create(templateID=name)
    assert sandbox.made["templateID"] == "base"
    server.api("DELETE", "/sandboxes/" + sandbox.id)


def test_sandbox_variables_reach_commands(server):
    sandbox = server.create(envVars={"GREETING": "hello there"})
    assert sandbox.run("echo $GREETING $E2B_SANDBOX_ID") == "hello there %s\n" % sandbox.id
    server.api("DELETE", "/sandboxes/" + sandbox.id)


def test_a_repeat_with_the_same_key_makes_no_second_sandbox(server):
    """wire H: Idempotency-Key."""
    key = {"Idempotency-Key": "attempt-1"}
    body = {"templateID": "base", "timeout": 60}
    first = server.api("POST", "/sandboxes", body, key)[2]
    status, _, again = server.api("POST", "/sandboxes", body, key)
    assert status == 201 and again == first
    assert server.api("POST", "/sandboxes", body, {"Idempotency-Key": "Not Good"})[0] == 400
    server.api("DELETE", "/sandboxes/" + first["sandboxID"])


def test_both_body_framings(server):
    """A.2: JavaScript clients send chunked."""
    body = b'{"templateID":"base","timeout":60}'
    chunked = b"%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (5, body[:5], len(body) - 5, body[5:])
    status, _, text = server.request("POST", "/sandboxes", chunked,
                                     {"X-API-Key": server.key, "Transfer-Encoding": "chunked"})
    assert status == 201, text
    server.kill_all()


# ---- bad requests -------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"templateID":"base"} x',
                                  b'{"templateID":"\xff"}', b"[" * 5000])
def test_a_body_that_is_no_object(server, body):
    status, _, text = server.request("POST", "/sandboxes", body, {"X-API-Key": server.key})
    assert status == 400
    assert b'"code":400' in text


def test_a_body_that_is_too_large(server):
    status, _, text = server.request("POST", "/sandboxes", b" " * (2 * 1024 * 1024),
                                     {"X-API-Key": server.key})
    assert status == 413 and b'"code":413' in text


@pytest.mark.parametrize("method, path, status", [
    ("GET", "/nothing", 404), ("GET", "/", 404), ("GET", "/v2/", 404), ("GET", "/v3/sandboxes", 404),
    ("PUT", "/sandboxes", 405), ("POST", "/sandboxes/%s" % NEVER, 405),
    ("POST", "/sandboxes/%s/dance" % NEVER, 404), ("GET", "/sandboxes/", 404),
])
def test_paths_and_methods(server, method, path, status):
    seen, _, error = server.api(method, path, {} if method != "GET" else None)
    assert (seen, error["code"]) == (status, status)


@pytest.mark.parametrize("path", ["I_AM_NOT_ONE", "i-a-b", "..", "%2e%2e", "iabc%00"])
@pytest.mark.parametrize("method, verb", [("GET", ""), ("DELETE", ""), ("POST", "/connect"), ("POST", "/pause")])
def test_ids_that_are_none(server, method, verb, path):
    status, _, error = server.api(method, "/sandboxes/%s%s" % (path, verb), {"timeout": 60})
    assert status == 400 and error["message"] == "Invalid sandbox ID"


@pytest.mark.parametrize("method, verb, value", [
    ("GET", "", None), ("DELETE", "", None), ("POST", "/connect", {"timeout": 60}), ("POST", "/pause", {}),
    ("POST", "/timeout", {"timeout": 60}), ("POST", "/refreshes", {"duration": 60}), ("POST", "/resume", {}),
])
def test_a_sandbox_that_does_not_exist(server, method, verb, value):
    status, _, error = server.api(method, "/sandboxes/" + NEVER + verb, value)
    assert status == 404
    assert error["message"] == "Sandbox \"%s\" doesn't exist or you don't have access to it" % NEVER


# ---- list and detail (A.7, A.12) -----------------------------------------------------------------


@pytest.fixture(scope="module")
def crowd(server):
    """Five sandboxes, one after the other; the second is paused."""
    server.kill_all()
    made = [server.create(metadata={"pool": "x y" if n % 2 else "a+b&c=d/é", "n": str(n)})
            for n in range(5)]
    server.api("POST", "/sandboxes/%s/pause" % made[1].id, {"memory": False})
    yield made
    server.kill_all()


def ids(server, query=""):
    status, fields, items = server.api("GET", "/v2/sandboxes" + query)
    assert status == 200, items
    return [item["sandboxID"] for item in items], fields


def test_an_item_has_what_sdks_require(server, crowd):
    item = server.api("GET", "/v2/sandboxes")[2][0]
    for name in ("clientID", "cpuCount", "diskSizeMB", "endAt", "envdVersion", "memoryMB", "sandboxID",
                 "startedAt", "state", "templateID"):
        assert name in item
    assert item["metadata"]["n"] == "4" and item["state"] == "running"
    assert parsed(item["endAt"]) > parsed(item["startedAt"])
    assert "envdAccessToken" not in item


def test_order(server, crowd):
    newest_first = [s.id for s in reversed(crowd)]
    assert ids(server)[0] == newest_first
    assert ids(server, "?order=desc")[0] == newest_first
    assert ids(server, "?order=asc")[0] == newest_first[::-1]


def test_states(server, crowd):
    running, fields = ids(server, "?state=running")
    assert crowd[1].id not in running and len(running) == 4
    assert fields["x-total-running"] == "4"
    paused, fields = ids(server, "?state=paused")
    assert paused == [crowd[1].id]
    assert "x-total-running" not in fields
    assert len(ids(server, "?state=running,paused")[0]) == 5
    assert len(ids(server, "?state=running%2Cpaused")[0]) == 5
    assert [i["sandboxID"] for i in server.api("GET", "/sandboxes")[2]] == running


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_pages(server, crowd, order):
    seen, token = [], None
    while True:
        query = "?limit=2&order=" + order + ("&nextToken=" + urllib.parse.quote(token) if token else "")
        page, fields = ids(server, query)
        assert len(page) <= 2
        seen += page
        token = fields.get("x-next-token")
        if token is None:
            break
    assert seen == ids(server, "?order=" + order)[0]


def test_the_count_of_those_that_run(server, crowd):
    """Before paging, the same on each page; only of the list that has pages."""
    _, fields = ids(server, "?state=running&limit=1")
    assert fields["x-total-running"] == "4"
    token = urllib.parse.quote(fields["x-next-token"])
    assert ids(server, "?limit=1&nextToken=" + token)[1]["x-total-running"] == "4"
    assert ids(server, "?metadata=" + quoted({"n": "4"}))[1]["x-total-running"] == "1"
    assert ids(server, "?metadata=" + quoted({"n": "1"}))[1]["x-total-running"] == "0"
    _, fields, items = server.api("GET", "/sandboxes?metadata=" + quoted({"n": "4"}))
    assert [i["metadata"]["n"] for i in items] == ["4"]
    assert "x-total-running" not in fields and "x-next-token" not in fields


@pytest.mark.parametrize("order, end", [("desc", ""), ("asc", "__asc")])
def test_what_is_in_a_page_token(server, crowd, order, end):
    """A.7: base64url of the last item's start and id; a full last page has none."""
    _, fields, items = server.api("GET", "/v2/sandboxes?limit=3&order=" + order)
    token = fields["x-next-token"]
    text = base64.urlsafe_b64decode(token).decode()
    assert text == "%s__%s%s" % (items[-1]["startedAt"], items[-1]["sandboxID"], end)
    for form in (token, token.rstrip("=")):
        page, fields = ids(server, "?limit=2&order=%s&nextToken=%s" % (order, urllib.parse.quote(form)))
        assert page == ids(server, "?order=" + order)[0][3:]
        assert "x-next-token" not in fields
    # a place that no sandbox has: where it would be
    own = base64.urlsafe_b64encode(("2001-01-01T00:00:00Z__izzz" + end).encode()).decode()
    assert ids(server, "?order=%s&nextToken=%s" % (order, own))[0] == (ids(server, "?order=asc")[0] if end else [])


@pytest.mark.parametrize("text", [
    "2026-08-22T10:00:00Z", "2026-08-22T10:00:00Z__", "__iabc", "yesterday__iabc", "2026-08-22T10:00:00Z__iabc__desc",
    "2026-08-22T10:00:00Z__iabc__asc__asc", "2026-08-22T10:00:00Z__IABC", "2026-08-22T10:00:00Z__i-b", "2026-08-22T10:00:00Z_iabc",
    "2026-08-22T10:00:00Z__i abc"])
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_page_tokens_that_are_none(server, text, order):
    token = base64.urlsafe_b64encode(text.encode()).decode()
    status, _, error = server.api("GET", "/v2/sandboxes?order=%s&nextToken=%s" % (order, token))
    assert status == 400 and error["message"] == "Invalid next token"


def test_a_hundred_on_a_page(start_server):
    """The default and the most; the records are made here, which is quicker than to run so many."""
    server = start_server()
    sandbox = server.create(metadata={"pool": "many"})
    assert server.api("POST", "/sandboxes/%s/pause" % sandbox.id, {"memory": False})[0] == 204
    server.stop()
    records = Path(server.state) / "records"
    record = json.loads((records / (sandbox.id + ".json")).read_text())
    for n in range(100):
        record["sandboxID"] = "i%020d" % n
        (records / (record["sandboxID"] + ".json")).write_text(json.dumps(record))
    again = start_server()
    page, fields = ids(again)
    assert len(page) == 100 and len(ids(again, "?limit=100")[0]) == 100
    # all have one start: then by id
    assert page == sorted(page)
    last, fields = ids(again, "?nextToken=" + urllib.parse.quote(fields["x-next-token"]))
    assert len(last) == 1 and last[0] > page[-1] and "x-next-token" not in fields
    assert ids(again, "?limit=100&order=asc")[0] == [*last, *page[:0:-1]]
    assert again.api("GET", "/sandboxes")[2] == []


def test_a_page_token_of_the_other_order(server, crowd):
    token = ids(server, "?limit=2&order=asc")[1]["x-next-token"]
    status, _, error = server.api("GET", "/v2/sandboxes?limit=2&nextToken=" + urllib.parse.quote(token))
    assert status == 400 and error["message"] == "Invalid next token"


def quoted(pairs):
    """A filter as the SDKs send it: every part twice, then the whole once more."""
    def twice(text):
        return urllib.parse.quote(urllib.parse.quote(text, safe=""), safe="")
    return urllib.parse.quote("&".join(twice(k) + "=" + twice(v) for k, v in pairs.items()), safe="")


def test_metadata_filter(server, crowd):
    assert set(ids(server, "?metadata=" + quoted({"pool": "a+b&c=d/é"}))[0]) == {s.id for s in crowd[::2]}
    assert ids(server, "?metadata=" + quoted({"pool": "x y", "n": "3"}))[0] == [crowd[3].id]
    assert ids(server, "?metadata=" + quoted({"pool": "x y", "n": "2"}))[0] == []
    assert ids(server, "?metadata=n%3D1")[0] == [crowd[1].id]


def test_started_after_and_template(server, crowd):
    started = crowd[2].detail()["startedAt"]
    query = "?startedAfter=" + urllib.parse.quote(started)
    assert ids(server, query)[0] == [s.id for s in crowd[:1:-1]]
    whole, _, fraction = started.rstrip("Z").partition(".")
    ahead = datetime.datetime.fromisoformat(whole) + datetime.timedelta(hours=2)
    elsewhere = "%s.%s+02:00" % (ahead.isoformat(), fraction or "0")
    assert ids(server, "?startedAfter=" + urllib.parse.quote(elsewhere))[0] == [s.id for s in crowd[:1:-1]]
    # a "+" that is not encoded is a space
    assert server.api("GET", "/v2/sandboxes?startedAfter=" + elsewhere)[0] == 400
    later = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
    assert ids(server, "?startedAfter=" + urllib.parse.quote(later.isoformat()))[0] == []
    assert len(ids(server, "?template=base")[0]) == 5
    assert ids(server, "?template=other")[0] == []


@pytest.mark.parametrize("query, words", [
    ("limit=0", "validation error: "), ("limit=101", "validation error: "), ("limit=x", "validation error: "),
    ("limit=", "validation error: "), ("limit=-1", "validation error: "), ("limit=%2B1", "validation error: "),
    ("limit=1.5", "validation error: "), ("limit=99999999999999999999", "validation error: "),
    ("state=running,", "validation error: "), ("state=,running", "validation error: "),
    ("state=Running", "validation error: "), ("order=", "validation error: "), ("order=ASC", "validation error: "),
    ("state=dead", "validation error: "), ("state=", "validation error: "),
    ("order=up", "validation error: "), ("startedAfter=yesterday", "validation error: "),
    ("metadata=", "Error parsing metadata"), ("metadata=pool", "Error parsing metadata"),
    ("metadata=a%3D%2525zz", "Error parsing metadata"), ("nextToken=garbage", "Invalid next token"),
    ("template=base:x", "validation error: "),
])
def test_lists_refuse(server, query, words):
    status, _, error = server.api("GET", "/v2/sandboxes?" + query)
    assert status == 400 and error["message"].startswith(words)


def test_detail(server):
    sandbox = server.create(secure=True, autoPause=True, allow_internet_access=False)
    detail = sandbox.detail()
    assert detail["envdAccessToken"] == sandbox.token
    assert detail["lifecycle"] == {"onTimeout": "pause", "autoResume": False}
    assert detail["allowInternetAccess"] is False
    assert detail["domain"] is None and detail["network"] == {}
    item = next(i for i in server.api("GET", "/v2/sandboxes")[2] if i["sandboxID"] == sandbox.id)
    assert detail.items() >= item.items()
    other = server.create(autoPause=True, autoResume={"enabled": True}).id
    assert server.api("GET", "/sandboxes/" + other)[2]["lifecycle"] == {"onTimeout": "pause", "autoResume": True}
    other = server.create().id
    plain = server.api("GET", "/sandboxes/" + other)[2]
    assert plain["lifecycle"] == {"onTimeout": "kill", "autoResume": False}
    assert "envdAccessToken" not in plain and "metadata" not in plain
    server.kill_all()
    sandbox = server.create()
    assert server.api("GET", "/sandboxes/%s-6532622b" % sandbox.id)[2]["sandboxID"] == sandbox.id
    server.api("DELETE", "/sandboxes/" + sandbox.id)


# ---- connect, pause, leases (A.8 to A.13) ---------------------------------------------------------


def test_connect_only_extends(server, sandbox):
    before = parsed(sandbox.detail()["endAt"])
    status, _, made = server.api("POST", "/sandboxes/%s/connect" % sandbox.id, {"timeout": 30})
    assert status == 200 and made == sandbox.made
    assert parsed(sandbox.detail()["endAt"]) == before
    assert server.api("POST", "/v2/sandboxes/%s/connect" % sandbox.id, {"timeout": 3000})[0] == 200
    assert parsed(sandbox.detail()["endAt"]) > before + datetime.timedelta(minutes=40)
    assert server.api("POST", "/v2/sandboxes/%s/connect" % sandbox.id, {})[0] == 200


def test_timeout_sets(server, sandbox):
    assert server.api("POST", "/sandboxes/%s/timeout" % sandbox.id, {"timeout": 30})[0] == 204
    detail = sandbox.detail()
    left = parsed(detail["endAt"]) - parsed(detail["startedAt"])
    assert left.total_seconds() < 40
    assert server.api("POST", "/sandboxes/%s/refreshes" % sandbox.id, {"duration": 100})[0] == 204
    assert parsed(sandbox.detail()["endAt"]) > parsed(detail["endAt"])


@pytest.mark.parametrize("verb, value, status, words", [
    ("connect", {}, 400, "validation error: "), ("connect", {"timeout": -1}, 400, "validation error: "),
    ("connect", {"timeout": "9"}, 400, "validation error: "),
    ("connect", {"timeout": 90000}, 400, "Timeout cannot be greater than 24 hours"),
    ("timeout", {}, 400, "validation error: "), ("timeout", {"timeout": -1}, 400, "validation error: "),
    ("refreshes", {"duration": 3601}, 400, "validation error: "), ("pause", {"memory": 1}, 400, "validation error: "),
    ("resume", {}, 409, "already running"),
])
def test_steps_refuse(server, sandbox, verb, value, status, words):
    seen, _, error = server.api("POST", "/sandboxes/%s/%s" % (sandbox.id, verb), value)
    assert seen == status and words in error["message"]


def test_connect_refuses_a_cold_boot_of_kept_memory(server, sandbox):
    _, _, error = server.api("POST", "/v2/sandboxes/%s/connect" % sandbox.id, {"memory": False})
    assert error["error_code"] == "sandbox_memory_override_disabled"


def test_a_pause_of_the_files_alone(server):
    """A.8: same id and token, files there, processes and envVars gone."""
    sandbox = server.create(secure=True, envVars={"SECRET": "s"}, metadata={"m": "1"})
    sandbox.write("kept", b"data")
    started = sandbox.detail()["startedAt"]
    stream = sandbox.start("sleep 1000")
    assert "start" in stream.event()
    assert server.api("POST", "/sandboxes/%s/pause" % sandbox.id, {"memory": False})[0] == 204
    with pytest.raises(CUT):
        list(stream)
    stream.close()
    assert sandbox.detail()["state"] == "paused"
    assert sandbox.request("GET", "/health")[0] == 502
    again = server.api("POST", "/sandboxes/%s/pause" % sandbox.id, {})
    assert again[0] == 409 and "is already paused" in again[2]["message"]
    assert server.api("POST", "/sandboxes/%s/timeout" % sandbox.id, {"timeout": 9})[0] == 404
    status, _, made = server.api("POST", "/sandboxes/%s/connect" % sandbox.id, {"timeout": 60})
    assert (status, made) == (201, sandbox.made)
    assert sandbox.detail()["startedAt"] > started
    assert sandbox.detail()["metadata"] == {"m": "1"}
    assert sandbox.run("cat ~/kept; echo \"[$SECRET]\"; pgrep -x sleep || true") == "data[]\n"
    server.api("DELETE", "/sandboxes/" + sandbox.id)


def test_a_pause_that_keeps_the_memory(server):
    sandbox = server.create(envVars={"SECRET": "s"})
    stream = sandbox.start("sleep 1000")
    pid = stream.event()["start"]["pid"]
    assert server.api("POST", "/sandboxes/%s/pause" % sandbox.id, {})[0] == 204
    with pytest.raises(CUT):
        list(stream)
    stream.close()
    assert sandbox.request("GET", "/health")[0] == 502
    assert server.api("POST", "/sandboxes/%s/resume" % sandbox.id, {"timeout": 60})[0] == 201
    assert sandbox.run("kill -0 %d && echo \"[$SECRET]\"" % pid) == "[s]\n"
    server.api("DELETE", "/sandboxes/" + sandbox.id)


def test_traffic_wakes_what_was_made_so(server):
    """B.4: only with autoResume, and only a pause that kept the memory."""
    sandbox = server.create(autoPause=True, autoResume={"enabled": True})
    server.api("POST", "/sandboxes/%s/pause" % sandbox.id, {})
    assert sandbox.run("echo awake") == "awake\n"
    server.api("POST", "/sandboxes/%s/pause" % sandbox.id, {"memory": False})
    assert sandbox.request("GET", "/health")[0] == 502
    server.api("DELETE", "/sandboxes/" + sandbox.id)


def test_concurrent_connects_join_one_start(server):
    sandbox = server.create()
    server.api("POST", "/sandboxes/%s/pause" % sandbox.id, {"memory": False})
    answers = []

    def connect():
        answers.append(server.api("POST", "/sandboxes/%s/connect" % sandbox.id, {"timeout": 60}))

    threads = [threading.Thread(target=connect) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {status for status, _, _ in answers} <= {200, 201}
    assert 201 in {status for status, _, _ in answers}
    assert all(made == sandbox.made for _, _, made in answers)
    server.api("DELETE", "/sandboxes/" + sandbox.id)


def test_kill(server):
    sandbox = server.create()
    assert server.api("DELETE", "/sandboxes/" + sandbox.id)[:1] == (204,)
    for method, verb in (("GET", ""), ("DELETE", ""), ("POST", "/connect")):
        assert server.api(method, "/sandboxes/" + sandbox.id + verb, {"timeout": 9})[0] == 404
    assert sandbox.request("GET", "/health")[0] == 502


def test_kill_of_a_paused_one(server):
    for memory in (True, False):
        sandbox = server.create()
        server.api("POST", "/sandboxes/%s/pause" % sandbox.id, {"memory": memory})
        assert server.api("DELETE", "/sandboxes/" + sandbox.id)[0] == 204
        assert server.api("GET", "/sandboxes/" + sandbox.id)[0] == 404


@pytest.mark.parametrize("members, state", [({}, None), ({"autoPause": True, "autoPauseMemory": False}, "paused"),
                                            ({"autoPause": True}, "paused")])
def test_the_end_of_a_lease(server, members, state):
    """A.13: kill or pause, within 100 ms, and open streams are cut."""
    sandbox = server.create(timeout=1, **members)
    end = parsed(sandbox.detail()["endAt"])
    stream = sandbox.start("sleep 1000")
    assert "start" in stream.event()
    with pytest.raises(CUT):
        list(stream)
    late = datetime.datetime.now(datetime.timezone.utc) - end
    assert -0.01 < late.total_seconds() < 0.1
    stream.close()

    def settled():
        status, _, detail = server.api("GET", "/sandboxes/" + sandbox.id)
        return (status == 404) if state is None else detail["state"] == state

    until(settled)
    assert sandbox.request("GET", "/health")[0] == 502

    def connect():
        status = server.api("POST", "/sandboxes/%s/connect" % sandbox.id, {"timeout": 60})[0]
        return None if status == 409 else status

    assert until(connect) == (201 if state else 404)
    server.api("DELETE", "/sandboxes/" + sandbox.id)


def test_timeout_of_zero_ends_it_now(server):
    sandbox = server.create(autoPause=True, autoPauseMemory=False)
    assert server.api("POST", "/sandboxes/%s/timeout" % sandbox.id, {"timeout": 0})[0] == 204
    until(lambda: sandbox.detail()["state"] == "paused")
    status, _, error = server.api("POST", "/sandboxes/%s/connect" % sandbox.id, {"timeout": 0})
    assert status == 500 and error["error_code"] == "sandbox_create_failed"
    server.api("DELETE", "/sandboxes/" + sandbox.id)


def test_many_at_once(server):
    made = []
    threads = [threading.Thread(target=lambda: made.append(server.create())) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({s.id for s in made}) == 12
    assert {s.run("echo $E2B_SANDBOX_ID").strip() for s in made} == {s.id for s in made}
    for s in made:
        assert server.api("DELETE", "/sandboxes/" + s.id)[0] == 204
