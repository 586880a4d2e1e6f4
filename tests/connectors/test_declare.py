"""What agents see of the services: short signatures, common parameters once, extra tools only if a key names them."""

import json
from typing import Any

import orjson
import pytest
from policy.houses import key
from pydantic import TypeAdapter
from talk import Http

from tokonoma import catalogue
from tokonoma.connectors.declare import declare_module
from tokonoma.connectors.model import PageRule, Service, ServiceTool
from tokonoma.connectors.parameters import ServiceParam

SERVICES = catalogue.read_catalogue(catalogue.SERVICES_FILE)
NAMES = list(catalogue.SERVICE_MODULES)


def test_the_schemas_of_all_seven_are_short(talk):
    answer = talk.value("get_module_schema", module=NAMES)
    assert [module["name"] for module in answer["modules"]] == NAMES
    assert sum(len(module["tools"]) for module in answer["modules"]) == 108
    assert len(orjson.dumps(answer)) <= 12 * 1024


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_says_once_what_all_tools_take_and_which_api_they_use(talk, name):
    (module,) = talk.value("get_module_schema", module=name)["modules"]
    notes = " ".join(module["shared"])
    assert " API " in notes
    for word in (" account?", " fields?", " limit?", " cursor?"):
        assert notes.count(word) == 1
        assert not any(word in signature.replace(" fields?: {", "") for signature in module["tools"])
    (whole,) = talk.value("get_module_schema", module=name, format="json")["modules"]
    assert whole["shared"][0] == module["shared"][0]
    assert all("account" in tool["inputSchema"]["properties"] for tool in whole["tools"])


def test_one_tool_is_shown_with_the_notes_too(talk):
    (module,) = talk.value("get_module_schema", module="github.list_branches")["modules"]
    assert module["tools"] == ["list_branches(owner, repo) -> list"]
    assert module["shared"][0] == "GitHub API 2022-11-28."


def test_extra_tools_are_hidden_unless_a_key_names_them(service, own_app):
    service.answer({"merged": True, "sha": "s", "message": "m", "url": "u"})
    params = {"owner": "o", "repo": "r", "pull_number": 3}
    plain = Http(own_app, key(own_app, "plain"))
    assert plain.refused("github", "merge_pr", **params)["code"] == "NOT_FOUND"
    assert "merge_pr" not in json.dumps(plain.value("get_module_schema", module="github"))
    named = Http(own_app, key(own_app, "named", extras=["github.merge_pr"]))
    assert named.call("github", "merge_pr", **params) == {"merged": True, "sha": "s", "message": "m"}
    assert named.refused("github", "list_starred")["code"] == "NOT_FOUND"
    assert len(service.asked) == 1


def test_masks_hold_for_tools_of_services(service, own_app):
    service.answer([])
    reader = Http(own_app, key(own_app, "reader", mask=["github:write", "jira"]))
    assert reader.call("github", "list_repos")["items"] == []
    assert reader.refused("github", "create_issue", owner="o", repo="r", title="t")["code"] == "NOT_FOUND"
    assert reader.refused("jira", "get_myself")["code"] == "NOT_FOUND"
    assert len(service.asked) == 1


def declare(*tools: ServiceTool, **more):
    return catalogue.describe_module(declare_module(Service("s", "S", "Things.", "9", tools, **more)), "s:MODULE")


PAGES = PageRule("token", "size", 50, "next", "next")


@pytest.mark.parametrize(
    ("tool", "signature"),
    [
        (ServiceTool("get_page", "GET /p/{id}", "One page."), "get_page(id)"),
        (ServiceTool("list_pages", "GET /p", "All pages.", rows="", page=PAGES), "list_pages() -> list: All pages"),
        (ServiceTool("list_pages", "GET /p", "Pages.", rows="r"), "list_pages() -> items"),
        (ServiceTool("drop", "DELETE /p/{id:int}", "Drop it.", fields=""), "drop(id: int) -> done: Drop it"),
        (ServiceTool("t", "POST /p", "T.", "a?, b, c?: [str]"), "t(b, a?, c?: [str])"),
        (ServiceTool("t", "POST /p", "T.", "when: Time"), "t(when: Time)"),
        (
            ServiceTool("t", "GET /p", "T.", "sort?: aaaaaaaaaa|bbbbbbbbbb|cccccccccc|dddddddddd"),
            "t(sort?: aaaaaaaaaa|bbbbbbbbbb|…)",
        ),
    ],
)
def test_signatures_are_one_short_line(tool, signature):
    info = declare(tool, types={"Time": "{date}"})
    assert info.entries[0].signature == signature
    assert info.notes[-1] == "Time = {date}"


@pytest.mark.parametrize(
    ("shape", "schema"),
    [
        ("str", {"type": "string"}),
        ("int", {"type": "integer"}),
        ("a|b-c|+d", {"enum": ["a", "b-c", "+d"], "type": "string"}),
        ("[str]", {"type": "array", "items": {"type": "string"}}),
        ("[a|b]", {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}),
        ("{x: int}", {"type": "object", "additionalProperties": True, "description": "{x: int}"}),
        ("[{x}]", {"type": "array", "items": {}, "description": "[{x}]"}),
        ("Time", {"type": "object", "additionalProperties": True, "description": "{date}"}),
        ("Mail", {"enum": ["all", "none"], "type": "string"}),
        ("str | {type}", {"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": True}],
                          "description": "str | {type}"}),
    ],
)  # fmt: skip
def test_shapes_become_types(shape, schema):
    tool = ServiceTool("t", "POST /p", "T.", f"x?: {shape}")
    info = declare(tool, types={"Time": "{date}", "Mail": "all|none"})
    assert info.entries[0].input["properties"]["x"] == schema


def test_facts_follow_from_the_line():
    lines = [
        ServiceTool("a", "GET /p", "A.", fields="id name", rows="", page=PAGES),
        ServiceTool("b", "PUT /p", "B.", effect="destroy", extra=True),
        ServiceTool("c", "POST /p", "C.", "fields: {}"),
        ServiceTool("d", "DELETE /p", "D.", fields=""),
    ]
    a, b, c, d = declare(*lines).entries
    assert [each.effect for each in (a, b, c, d)] == ["read", "destroy", "write", "destroy"]
    assert [each.idempotent for each in (a, b, c, d)] == [True, True, False, True]
    assert [each.extra for each in (a, b, c, d)] == [False, True, False, False]
    assert [each.projects for each in (a, b, c, d)] == [True, True, False, False]
    assert all(each.outside for each in (a, b, c, d))
    assert a.input["properties"]["limit"] == {"type": "integer", "minimum": 1, "maximum": 50, "default": 20}
    assert a.input["properties"]["fields"]["description"] == "default: id name"
    assert "fields" not in d.input["properties"]


def test_choices_keep_their_order_whatever_other_code_has_declared():
    """`typing` takes two unions of the same choices for one, and gives the one that was there first."""
    for order in ("here|there", "there|here"):
        hint: Any = ServiceParam("order", "query", False, order).build_hint() | None
        schema = TypeAdapter(hint).json_schema()
        assert schema["anyOf"][0]["enum"] == order.split("|")
