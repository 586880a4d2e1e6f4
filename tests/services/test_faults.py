"""What a service can do to a request, line by line, through `call` and through `batch`."""

import gzip
import json
from dataclasses import dataclass, replace
from email.utils import formatdate
from time import time
from typing import Any

import pytest
from services.faulty import Answer

OK = Answer()
IN_NINE_SECONDS = "in nine seconds"  # as a date, made when the service answers
NOTION, GITHUB, GOOGLE = "notion", "github", "google"
HTML = Answer(502, {"content-type": "text/html"}, b"<h1>Bad gateway</h1>")
DROP, HALF, BROKEN = Answer(act="drop"), Answer(act="half"), Answer(body=b"{broken")
BOMB = Answer(headers={"content-encoding": "gzip"}, body=gzip.compress(bytes(40 * 2**20)))
SECONDARY = Answer(403, {"retry-after": "1"}, b'{"message":"You have exceeded a secondary rate limit"}')
GOOGLE_LIMIT = Answer(403, body=b'{"error":{"errors":[{"reason":"rateLimitExceeded"}],"message":"Rate"}}')
REDIRECT = Answer(302, {"location": "http://169.254.169.254/latest/meta-data"})


def fail(status: int, words: str = "no", **headers: str) -> Answer:
    return Answer(status, {name.replace("_", "-"): value for name, value in headers.items()}, said(words))


def said(words: str) -> bytes:
    return json.dumps({"message": words, "error": {"message": words}, "errorMessages": [words]}).encode()


def limit(seconds: object = None) -> Answer:
    return fail(429) if seconds is None else fail(429, retry_after=str(seconds))


def date_pause(answer: Answer) -> Answer:
    if answer.headers.get("retry-after") != IN_NINE_SECONDS:
        return answer
    return replace(answer, headers={"retry-after": formatdate(time() + 9, usegmt=True)})


@dataclass(frozen=True)
class Case:
    """`ends`: the code of the error, or empty for a good end; `slept`: the least seconds of pauses in between."""

    name: str
    tool: str
    answers: list[Answer]
    ends: str
    sent: int
    details: dict[str, Any] | None = None
    slept: float = 0.0
    provider: str = ""  # empty: every provider behaves so


EXTERNAL, LIMITED = "EXTERNAL_API_ERROR", "RATE_LIMITED"
CASES = [
    Case("fine", "fetch", [OK], "", 1),
    Case("server errors", "fetch", [fail(500), HTML, OK], "", 3, slept=1.5),
    Case("always failing", "fetch", [fail(500)] * 4, EXTERNAL, 3, {"http_status": 500}),
    Case("write, server error", "create", [fail(500)], EXTERNAL, 1, {"http_status": 500}),
    Case("search by POST, server error", "search", [fail(500), OK], "", 2),
    Case("write, 503 with Retry-After", "create", [fail(503, retry_after="1")], EXTERNAL, 1, {"http_status": 503}),
    Case("read, 503 with Retry-After", "fetch", [fail(503, retry_after="3"), OK], "", 2, slept=3),
    Case("rate limit", "fetch", [limit(2), OK], "", 2, slept=2),
    Case("rate limit on a write", "create", [limit(1), OK], "", 2, slept=1),
    Case("rate limit without a time", "create", [limit(), OK], "", 2),
    Case("Retry-After as a date", "fetch", [limit(IN_NINE_SECONDS), OK], "", 2, slept=1),
    Case("Retry-After in the past", "fetch", [limit(formatdate(time() - 99, usegmt=True)), OK], "", 2),
    Case("Retry-After is rubbish", "fetch", [limit("soon, nan, -"), OK], "", 2),
    Case("Retry-After is not a number", "fetch", [limit("nan"), OK], "", 2),
    Case("Retry-After is negative", "fetch", [limit("-5"), OK], "", 2),
    Case("Retry-After beyond the deadline", "fetch", [limit(3600)], LIMITED, 1, {"retry_after": 3600}),
    Case("Retry-After of 20 digits", "fetch", [limit(10**20)], LIMITED, 1, {"retry_after": 86_400}),
    Case(
        "Retry-After in the year 9999",
        "fetch",
        [fail(429, retry_after="Fri, 31 Dec 9999 23:59:59 GMT")],
        LIMITED,
        1,
        {"retry_after": 86_400},
    ),
    Case(
        "a limit that ends in 10**30 seconds",
        "fetch",
        [fail(403, x_ratelimit_remaining="0", x_ratelimit_reset=f"1{'0' * 30}")],
        LIMITED,
        1,
        {"retry_after": 86_400},
        provider=GITHUB,
    ),
    Case("rate limit again and again", "fetch", [limit(1)] * 5, LIMITED, 3, {"retry_after": 1}),
    Case("Notion overloaded", "fetch", [fail(529, retry_after="1"), OK], "", 2, slept=1, provider=NOTION),
    Case("Notion overloaded, write", "create", [fail(529, retry_after="1"), OK], EXTERNAL, 1, provider=NOTION),
    Case("GitHub secondary limit", "fetch", [SECONDARY, OK], "", 2, slept=1, provider=GITHUB),
    Case("GitHub secondary limit, write", "create", [SECONDARY, OK], "", 2, slept=1, provider=GITHUB),
    Case("Google limit", "fetch", [GOOGLE_LIMIT, OK], "", 2, provider=GOOGLE),
    Case("forbidden", "fetch", [fail(403, "Not for you")], EXTERNAL, 1, {"http_status": 403, "says": "Not for you"}),
    Case("not found", "fetch", [fail(404, "Nothing here")], EXTERNAL, 1, {"http_status": 404, "says": "Nothing here"}),
    Case("invalid", "create", [fail(422, "Bad field")], EXTERNAL, 1, {"http_status": 422, "says": "Bad field"}),
    Case("token refused twice", "fetch", [fail(401), fail(401), OK], "TOKEN_INVALID", 2),
    Case("connection dropped", "fetch", [DROP, OK], "", 2),
    Case("connection dropped, write", "create", [DROP, OK], EXTERNAL, 1),
    Case("connection dropped, search", "search", [DROP, OK], "", 2),
    Case("half a body", "fetch", [HALF, OK], "", 2),
    Case("half a body, write", "create", [HALF, OK], EXTERNAL, 1),
    Case("broken JSON", "fetch", [BROKEN, OK], "", 2),
    Case("broken JSON, write", "create", [BROKEN, OK], EXTERNAL, 1),
    Case("no content", "remove", [Answer(204, body=b"")], "", 1),
    Case("removal, server error", "remove", [fail(500), OK], EXTERNAL, 1),
    Case("redirect", "fetch", [REDIRECT, OK], EXTERNAL, 1, {"http_status": 302}),
    Case("redirect, write", "create", [REDIRECT, OK], EXTERNAL, 1),
    Case("gzip bomb", "fetch", [BOMB, OK], EXTERNAL, 1),
    Case("half a gzip", "fetch", [Answer(headers=BOMB.headers, body=BOMB.body[:900]), OK], "", 2),
    Case("unknown encoding", "create", [Answer(headers={"content-encoding": "br"}), OK], EXTERNAL, 1),
]
PROVIDERS = ["github", "notion", "atlassian", "supabase", "google", "microsoft"]


def get_good(case: Case) -> dict[str, Any]:
    return {"done": True} if case.tool == "remove" else {"status": 200, "value": {"ok": True}, "size": 11}


PAIRS = [(case, name) for case in CASES for name in ([case.provider] if case.provider else PROVIDERS)]


@pytest.mark.parametrize(("case", "provider"), PAIRS, ids=[f"{case.name}-{name}" for case, name in PAIRS])
def test_a_fault_ends_as_the_table_says(house, case, provider):
    house.prepare(provider)
    house.add()
    house.server.script.extend(map(date_pause, case.answers))
    if case.ends:
        error = house.refuse(case.tool)
        assert error["code"] == case.ends, error
        assert error["details"].items() >= (case.details or {}).items()
    else:
        assert house.call(case.tool) == get_good(case)
    assert len(house.server.requests) == case.sent
    assert sum(house.time.slept) >= case.slept
    assert house.find().state == ("broken" if case.ends == "TOKEN_INVALID" else "ready")


def test_a_failed_step_of_a_batch_fails_alone_and_skips_what_follows_it(house):
    house.add()
    house.server.by_path["/3"] = fail(404)
    steps: list[Any] = [
        {"id": f"s{n}", "module": "wire", "tool": "fetch", "params": {"path": f"/{n}"}} for n in range(5)
    ]
    told = house.talk.batch(*steps, {**steps[0], "id": "after", "after": "s3"})
    found = {step["id"]: step["status"] for step in told["steps"]}
    assert found == {"s0": "ok", "s1": "ok", "s2": "ok", "s3": "error", "s4": "ok", "after": "skipped"}
    assert sorted(request.path for request in house.server.requests) == ["/0", "/1", "/2", "/3", "/4"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_fault_in_a_batch_is_an_error_of_its_step_alone(house, case):
    house.prepare(case.provider or "github")
    house.add()
    house.server.script.extend(map(date_pause, case.answers))
    told = house.talk.batch(
        {"id": "a", "module": "wire", "tool": case.tool, "output": True},
        {"id": "b", "module": "wire", "tool": "fetch", "after": "a", "output": True},
        {"id": "c", "module": "memory", "tool": "list", "output": True},
    )
    found = {step["id"]: step for step in told["steps"]}
    assert found["c"]["status"] == "ok"
    assert found["a"]["status"] == ("error" if case.ends else "ok")
    assert found["b"]["status"] == ("skipped" if case.ends else "ok")
    if case.ends:
        assert found["a"]["error"]["code"] == case.ends
    assert len(house.server.requests) == case.sent + (not case.ends)
