"""From parameters to requests: every value in its place, and none that leads elsewhere."""

import pytest

from tokonoma.connectors.model import Service, ServiceTool
from tokonoma.connectors.parameters import list_params
from tokonoma.connectors.requests import build_draft, build_request, quote_path, quote_segment
from tokonoma.core.errors import Invalid


@pytest.mark.parametrize(
    ("value", "quoted"),
    [
        ("a b", "a%20b"),
        ("feature/x", "feature%2Fx"),
        ("a?b#c", "a%3Fb%23c"),
        ("%2e%2e", "%252e%252e"),
        ("main...dev", "main...dev"),
        ("...", "..."),
        ("床の間", "%E5%BA%8A%E3%81%AE%E9%96%93"),
        ("a\nb\0", "a%0Ab%00"),
        ("http://evil.example", "http%3A%2F%2Fevil.example"),
    ],
)
def test_a_value_is_one_segment(value, quoted):
    assert quote_segment(value) == quoted


@pytest.mark.parametrize("value", ["", ".", "..", "\ud800"])
def test_what_leads_elsewhere_is_refused(value):
    with pytest.raises(Invalid) as refused:
        quote_segment(value, "owner")
    assert refused.value.details["field"] == "owner"
    assert "owner" in refused.value.message


def test_a_path_of_a_file_keeps_its_slashes_and_nothing_else():
    assert quote_path("docs/a b.md") == "docs/a%20b.md"
    assert quote_path("/docs/") == "docs"
    assert quote_path("/") == ""
    for value in ("docs/../../x", "a//b", "./a", "docs/.."):
        with pytest.raises(Invalid):
            quote_path(value)


def build(tool, given, **service):
    declared = Service("s", "S", "", "1", (tool,), **service)
    return build_draft(tool, list_params(declared, tool), given)


@pytest.mark.parametrize(
    ("tool", "given", "path", "query", "body"),
    [
        (
            ServiceTool("t", "GET /a/{id:int}", "", "words?: [str], flag?: bool, n?: int"),
            {"id": 4, "words": ["x", "y"], "flag": False, "n": 0},
            "/a/4",
            [("words", "x"), ("words", "y"), ("flag", "false"), ("n", "0")],
            None,
        ),
        (ServiceTool("t", "DELETE /a/{id}", "", "name"), {"id": "i", "name": "x"}, "/a/i", [("name", "x")], None),
        (ServiceTool("t", "POST /a", "", "x?, y?: {z: int}"), {"y": {"z": 1}}, "/a", [], {"y": {"z": 1}}),
        (ServiceTool("t", "POST /a", "", "x?"), {}, "/a", [], {}),
        (ServiceTool("t", "POST /a", ""), {}, "/a", [], None),
        (ServiceTool("t", "POST /a", "", query="text"), {"text": "x"}, "/a", [("text", "x")], None),
        (ServiceTool("t", "PATCH /a", "", fixed={"status": "done"}), {}, "/a", [], {"status": "done"}),
        (ServiceTool("t", "PUT /a/{id}", "", "x", repeats="id"), {"id": "7", "x": 1}, "/a/7", [], {"x": 1, "id": "7"}),
        (ServiceTool("t", "POST /a", "", "rows: [{}]", body_of="rows"), {"rows": [{"a": 1}]}, "/a", [], [{"a": 1}]),
    ],
    ids=["query", "delete", "body", "empty-body", "no-body", "query-of-post", "fixed", "repeated", "whole-body"],
)
def test_values_stand_where_the_service_wants_them(tool, given, path, query, body):
    draft = build(tool, given)
    assert (draft.path, draft.query, draft.body) == (path, query, body)


def test_public_names_become_those_of_the_service():
    tool = ServiceTool("t", "GET /a", "", "space_id?: [str]")
    assert build(tool, {"space_id": ["1"]}, wire={"space_id": "space-id"}).query == [("space-id", "1")]


@pytest.mark.parametrize(
    ("call", "effect", "repeatable"),
    [("GET /a", None, True), ("PUT /a", None, True), ("DELETE /a", None, True), ("POST /a", None, False),
     ("PATCH /a", None, False), ("POST /a", "read", True), ("POST /a", "destroy", False)],
)  # fmt: skip
def test_only_what_does_no_more_when_sent_twice_is_repeatable(call, effect, repeatable):
    tool = ServiceTool("t", call, "", effect=effect)
    assert build_request(tool, build(tool, {})).repeatable is repeatable


def test_a_call_cannot_climb_out_of_its_path(service, talk):
    service.answer({})
    for name in ("..", ".", ""):
        error = talk.refused("github", "get_repo", owner=name, repo="r")
        assert error["code"] == "INVALID_ARGUMENT"
        assert error["details"]["field"] == "owner"
    assert service.asked == []


def test_parameters_are_checked_before_anything_is_sent(service, talk):
    error = talk.refused("github", "list_issues", owner="o", repo="r", state="opne", labels=["x"], foo=1)
    assert {each["field"] for each in error["details"]["problems"]} == {"state", "labels", "foo"}
    assert "list_issues(owner, repo" in error["details"]["signature"]
    assert talk.refused("github", "list_issues", owner="o", repo="r", limit=101)["code"] == "INVALID_ARGUMENT"
    assert service.asked == []
