"""Each stand-in takes one good request of every tool, answers in the service's shape, and refuses what is wrong."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from connectors.standins import SERVICES
from connectors.standins.cases import Case, load_cases
from connectors.standins.fixtures import *  # noqa: F403
from connectors.standins.fixtures import StandinCaller
from connectors.standins.official import find_folder, load_official, normalize
from connectors.standins.service import Route
from connectors.standins.standin import load_service

CASES = [case for service in SERVICES for case in load_cases(service)]
WITH_BODY = [case for case in CASES if isinstance(case.body, dict)]


def run_cases(cases: list[Case]) -> pytest.MarkDecorator:
    """A stand-in of its service for each case."""
    pairs = [(case.service, case) for case in cases]
    return pytest.mark.parametrize(("standin", "case"), pairs, indirect=["standin"], ids=[case.tool for case in cases])


def fill(value: Any, ids: dict[str, Any]) -> Any:
    """Puts the stand-in's ids in the places of a request."""
    if isinstance(value, str):
        return re.sub(r"{(\w+)}", lambda found: str(ids[found[1]]), value)
    if isinstance(value, dict):
        return {name: fill(each, ids) for name, each in value.items()}
    return [fill(each, ids) for each in value] if isinstance(value, list) else value


def send(call: StandinCaller, case: Case, **more: Any) -> Any:
    ids = call.standin.state.ids
    if case.version:
        more["headers"] = {"Notion-Version": case.version, **more.get("headers", {})}
    return call(fill(case.call, ids), fill(case.body, ids), **more)


def read_path(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = value[int(name)] if name.isdigit() and isinstance(value, list) else value[name]
    return value


@run_cases(CASES)
def test_a_good_request_is_answered_in_shape(standin, standin_call, case):
    answer = send(standin_call, case)
    assert answer.status_code == case.status, answer.text
    if not case.fields:
        return
    value = answer.json()
    rows = [value] if case.rows is None else read_path(value, case.rows) if case.rows else value
    assert rows, "a list without rows shows no shape"
    for row in rows:
        for path in case.fields.split():
            read_path(row, path)
    if official := load_official(case.service):
        route = find_route(case)
        assert official.check_response(route.method, route.path, answer.status_code, value) == []


def find_route(case: Case) -> Route:
    method, _, target = case.call.partition(" ")
    segments = target.split("?")[0].strip("/").split("/")
    routes = load_service(case.service).list_routes()
    return next(each for each in routes if each.method == method and each.match(segments) is not None)


def test_the_official_descriptions_know_every_request():
    if find_folder() is None:
        pytest.skip("the published descriptions do not lie beside the project")
    routes = {case.tool: find_route(case) for case in CASES}
    known = {service: load_official(service).operations for service in SERVICES}
    unknown = [
        tool for tool, route in routes.items() if (route.method, normalize(route.path)) not in known[tool.split(".")[0]]
    ]
    assert unknown == []


@pytest.mark.skipif(find_folder() is None, reason="the published descriptions do not lie beside the project")
@pytest.mark.parametrize("standin", SERVICES, indirect=True)
@pytest.mark.parametrize("wrong", ["query", "body"])
def test_the_official_description_refuses_what_our_rules_let_pass(standin, standin_call, wrong):
    loose = [replace(route, query={"*": str}, body=route.body and object) for route in standin.state.routes]
    standin.state.routes = loose
    case = next(case for case in WITH_BODY if case.service == standin.service)
    if wrong == "body":
        case = replace(case, body={**case.body, "bogus": 1})
    else:
        case = replace(case, call=f"{case.call}{'&' if '?' in case.call else '?'}bogus=1")
    answer = send(standin_call, case)
    assert answer.status_code == 400
    assert "Official description" in answer.text


@run_cases(CASES)
def test_a_token_of_nobody_is_refused(standin, standin_call, case):
    answer = send(standin_call, case, token="nobody" + "x" * 30)
    assert answer.status_code == 401
    assert_own_error(case.service, answer)


@run_cases(CASES)
def test_a_query_parameter_that_does_not_exist_is_refused(standin, standin_call, case):
    joint = "&" if "?" in case.call else "?"
    answer = send(standin_call, replace(case, call=f"{case.call}{joint}bogus=1"))
    assert 400 <= answer.status_code < 500
    assert_own_error(case.service, answer)


@run_cases(WITH_BODY)
@pytest.mark.parametrize("wrong", ["field", "type", "content type", "json"])
def test_a_wrong_body_is_refused(standin, standin_call, case, wrong):
    first = next(iter(case.body))
    if wrong == "field":
        answer = send(standin_call, replace(case, body={**case.body, "bogus": 1}))
    elif wrong == "type":
        answer = send(standin_call, replace(case, body={**case.body, first: [[]]}))
    else:
        text = json.dumps(fill(case.body, standin.state.ids)) if wrong == "content type" else "{"
        kind = "text/plain" if wrong == "content type" else "application/json"
        answer = send(standin_call, replace(case, body=None), content=text.encode(), headers={"Content-Type": kind})
    assert 400 <= answer.status_code < 500, answer.text
    assert_own_error(case.service, answer)


@run_cases([case for case in WITH_BODY if isinstance(find_route(case).body, dict)])
def test_every_field_of_a_body_has_its_type(standin, standin_call, case):
    shapes = {name.rstrip("!"): shape for name, shape in find_route(case).body.items()}
    for name, shape in shapes.items():
        if shape is not object:
            wrong: Any = {"bogus": {}} if isinstance(shape, list) else [[0]]
            answer = send(standin_call, replace(case, body={**case.body, name: wrong}))
            assert 400 <= answer.status_code < 500, name


@run_cases(CASES)
def test_every_parameter_of_a_query_has_its_type(standin, standin_call, case):
    path, _, query = case.call.partition("?")
    for name, shape in find_route(case).query.items():
        if shape in (str, [str]):
            continue  # any text will do
        name = name.rstrip("!")
        rest = [each for each in query.split("&") if each and not each.startswith(f"{name}=")]
        answer = send(standin_call, replace(case, call=f"{path}?{'&'.join([*rest, f'{name}=bo-gus'])}"))
        assert 400 <= answer.status_code < 500, name


def list_required(case: Case) -> list[str]:
    body = find_route(case).body
    return [name[:-1] for name in body if name.endswith("!")] if isinstance(body, dict) else []


REQUIRED = [(case.service, case, name) for case in WITH_BODY for name in list_required(case)]


@pytest.mark.parametrize(
    ("standin", "case", "name"),
    REQUIRED,
    indirect=["standin"],
    ids=[f"{case.tool}-{name}" for _, case, name in REQUIRED],
)
def test_a_required_field_that_is_missing_is_refused(standin, standin_call, case, name):
    body = {key: value for key, value in case.body.items() if key != name}
    answer = send(standin_call, replace(case, body=body))
    assert 400 <= answer.status_code < 500
    assert name in answer.text
    assert_own_error(case.service, answer)


ERROR_FIELDS = {
    "notion": ("object", "status", "code", "message"),
    "github": ("message", "documentation_url", "status"),
    "supabase": ("message",),
    "google_calendar": ("error.code", "error.message", "error.errors"),
    "microsoft_todo": ("error.code", "error.message", "error.innerError"),
}


def assert_own_error(service: str, answer: Any) -> None:
    value = answer.json()
    if service == "jira":
        assert "errorMessages" in value or value.keys() == {"code", "message"}
    elif service == "confluence":
        assert "errors" in value or {"statusCode", "message"} <= value.keys() or value.keys() == {"code", "message"}
    else:
        for path in ERROR_FIELDS[service]:
            read_path(value, path)
