"""Each fault does on the wire what its name says, and the service has done the work or not, as the fault says."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from connectors.standins import (
    SERVICES,
    answer,
    drop,
    gzip_bomb,
    half_body,
    hang,
    hold,
    make_error,
    make_limit,
    proceed,
    redirect,
    start_standin,
)
from connectors.standins.cases import load_cases
from connectors.standins.fixtures import *  # noqa: F403
from connectors.standins.fixtures import HEADERS, StandinCaller

GITHUB = pytest.mark.parametrize("standin", ["github"], indirect=True)
EVERY = pytest.mark.parametrize("standin", SERVICES, indirect=True)
NEW = ("POST /repos/mio/garden/issues", {"title": "Once"})


def count_issues(standin) -> int:
    return sum(row["title"] == "Once" for row in standin.state.repositories[0].issues.values())


@EVERY
def test_a_script_is_played_in_order_and_then_the_service_answers(standin, standin_call):
    whoami = f"GET {standin.state.whoami}"
    standin.faults.script([answer(500), answer(429, {"message": "slow"}, {"Retry-After": "2"}), proceed()])
    assert [standin_call(whoami).status_code for _ in range(4)] == [500, 429, 200, 200]
    assert [seen.status for seen in standin.requests] == [500, 429, 200, 200]
    assert [seen.fault for seen in standin.requests] == ["answer", "answer", "proceed", "proceed"]


@GITHUB
def test_an_answer_has_its_headers_and_body(standin, standin_call):
    standin.faults.script([answer(502, "<h1>Bad gateway</h1>"), answer(200, "{broken"), answer(204)])
    first = standin_call("GET /user")
    assert (first.status_code, first.text, first.headers["content-type"]) == (502, "<h1>Bad gateway</h1>", "text/html")
    assert standin_call("GET /user").text == "{broken"
    assert standin_call("GET /user").status_code == 204


@GITHUB
def test_a_script_for_a_path_or_a_method_leaves_others_alone(standin, standin_call):
    standin.faults.script([answer(503)], path="/repos/*")
    standin.faults.script([answer(504)], method="POST")
    assert standin_call("GET /user").status_code == 200
    assert standin_call("GET /repos/mio/garden").status_code == 503
    assert standin_call(*NEW).status_code == 504


@GITHUB
def test_the_last_step_may_last_for_ever(standin, standin_call):
    standin.faults.script([answer(500), answer(503)], forever=True)
    assert [standin_call("GET /user").status_code for _ in range(3)] == [500, 503, 503]
    standin.faults.clear()
    assert standin_call("GET /user").status_code == 200


@GITHUB
@pytest.mark.parametrize("handled", [False, True])
def test_a_dropped_connection_gives_no_answer(standin, standin_call, handled):
    standin.faults.script([drop(handled=handled)])
    with pytest.raises(httpx.TransportError):
        standin_call(*NEW)
    assert count_issues(standin) == handled
    assert standin_call("GET /user").status_code == 200


@GITHUB
@pytest.mark.parametrize("call", [("GET /user", None), NEW])
def test_half_a_body_breaks_off(standin, standin_call, call):
    standin.faults.script([half_body()])
    with pytest.raises(httpx.RemoteProtocolError):
        standin_call(*call)
    assert count_issues(standin) == (call is NEW)


@pytest.mark.parametrize("handled", [False, True])
def test_a_request_that_hangs_gets_nothing_until_the_stand_in_closes(standin_http, handled):
    with ThreadPoolExecutor(1) as pool:
        with start_standin("github") as standin:
            standin.faults.script([hang(handled=handled)])
            call = pool.submit(StandinCaller(standin, standin_http), *NEW)
            standin.wait_for_requests(1)
            assert not call.done()
            assert count_issues(standin) == handled
            assert standin.requests[-1].status is None
        with pytest.raises(httpx.TransportError):
            call.result()


@GITHUB
def test_held_requests_are_answered_when_released(standin, standin_call):
    standin.faults.script([hold()] * 3)
    with ThreadPoolExecutor(3) as pool:
        calls = [pool.submit(standin_call, "GET /user") for _ in range(3)]
        standin.wait_for_requests(3)
        assert not any(call.done() for call in calls)
        standin.release()
        assert [call.result().status_code for call in calls] == [200, 200, 200]
    assert standin.most_at_once == 3


@GITHUB
def test_a_bomb_is_small_on_the_wire(standin, standin_call):
    standin.faults.script([gzip_bomb(1024 * 1024)])
    answered = standin_call("GET /user")
    assert int(answered.headers["content-length"]) < 4096
    assert len(answered.json()) == 1024 * 1024


@GITHUB
def test_a_redirect_names_its_aim(standin, standin_call):
    standin.faults.script([redirect("http://169.254.169.254/latest")])
    answered = standin_call("GET /user")
    assert (answered.status_code, answered.headers["location"]) == (302, "http://169.254.169.254/latest")


@EVERY
def test_errors_and_limits_are_in_the_words_of_the_service(standin, standin_call):
    whoami = f"GET {standin.state.whoami}"
    standin.faults.script([make_error(standin.state, 422, "Odd words"), make_limit(standin.state, 7)])
    refused, limited = standin_call(whoami), standin_call(whoami)
    assert (refused.status_code, "Odd words" in refused.text) == (422, True)
    assert limited.status_code == (403 if standin.service in ("github", "google_calendar") else 429)
    if standin.service == "google_calendar":
        assert limited.json()["error"]["errors"][0]["reason"] == "rateLimitExceeded"
    else:
        assert limited.headers["retry-after"] == "7"


def test_github_and_notion_have_a_second_limit(standin_http):
    with start_standin("github") as standin:
        standin.faults.script([make_limit(standin.state, 9, "primary")])
        found = StandinCaller(standin, standin_http)("GET /user")
        assert (found.status_code, found.headers["x-ratelimit-remaining"]) == (403, "0")
        assert "retry-after" not in found.headers
    with start_standin("notion") as standin:
        standin.faults.script([make_limit(standin.state, 9, "overload")])
        assert StandinCaller(standin, standin_http)("GET /v1/users/me").status_code == 529


@EVERY
def test_a_path_that_does_not_exist_is_refused(standin, standin_call):
    assert standin_call("GET /v1/bogus/path/of/nobody").status_code in (400, 404)


@EVERY
def test_another_method_is_refused(standin, standin_call):
    assert standin_call(f"DELETE {standin.state.whoami}").status_code in (400, 404, 405)


@EVERY
@pytest.mark.parametrize("scheme", ["token", "bearer", "Basic", ""])
def test_another_scheme_of_authorization_is_refused(standin, standin_call, scheme):
    headers = {"Authorization": f"{scheme} {standin.token}".strip() or None}
    assert standin_call(f"GET {standin.state.whoami}", headers=headers).status_code == 401


REQUIRED = [(service, name) for service, headers in HEADERS.items() for name in headers]


@pytest.mark.parametrize(("standin", "name"), REQUIRED, indirect=["standin"])
@pytest.mark.parametrize("value", ["", "bogus/0"])
def test_a_required_header_that_is_missing_or_wrong_is_refused(standin, standin_call, name, value):
    if (name, value) == ("User-Agent", "bogus/0"):
        value = ""  # any name will do, but none will not
    answered = standin_call(f"GET {standin.state.whoami}", headers={name: value})
    assert 400 <= answered.status_code < 500


def test_markdown_of_notion_needs_the_newer_version(standin_http):
    with start_standin("notion") as standin:
        call = StandinCaller(standin, standin_http)
        place = f"GET /v1/pages/{standin.state.ids['page']}/markdown"
        assert call(place, headers={"Notion-Version": None}).json()["code"] == "missing_version"
        assert call(place).json()["code"] == "validation_error"
        assert call(place, headers={"Notion-Version": "2026-03-11"}).status_code == 200


@EVERY
def test_a_defect_of_the_stand_in_fails_the_test_that_meets_it(standin_http, standin):
    with pytest.raises(AttributeError), start_standin(standin.service) as broken:
        broken.state.routes = None
        del broken.state.oauth
        StandinCaller(broken, standin_http)(f"GET {broken.state.whoami}")


def test_there_is_a_request_for_every_tool():
    assert len({case.tool for service in SERVICES for case in load_cases(service)}) == 156
