"""Prompts over the wire, in both eras: listed for those who see their tools, filled in with arguments."""

import pytest
from policy.houses import key
from talk import Http, Lines

from tokonoma.app import App
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.module import ModuleInfo, Prompt, PromptArgument
from tokonoma.server.prompts import get_prompt, list_prompts

FLOW = ("activate", "boundary.validate", "upsert", "feedback")


@pytest.fixture
def app(tmp_path):
    house = App({"home": str(tmp_path / "home"), "durable": False}, {})
    yield house
    house.close()


@pytest.fixture(params=["handshake", "stateless"])
def talk(request, app):
    return Lines(app) if request.param == "handshake" else Http(app)


def greet(talk):
    if isinstance(talk, Http):
        return talk.ask("server/discover")["result"]
    client = {"name": "t", "version": "1"}
    return talk.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)["result"]


def test_the_flow_of_claims_is_a_prompt_and_stands_in_the_instructions(talk, app):
    told = greet(talk)
    assert told["capabilities"]["prompts"] == {}
    instructions = told["instructions"]
    places = [instructions.index(name) for name in FLOW]
    assert places == sorted(places)
    assert len(instructions) < 1400  # every client pays for them
    (listed,) = talk.ask("prompts/list")["result"]["prompts"]
    assert listed["name"] == "claims_task"
    assert listed["arguments"] == [{"name": "task", "description": "what is to be done", "required": True}]
    got = talk.ask("prompts/get", name="claims_task", arguments={"task": "Name the {task} API"})["result"]
    (message,) = got["messages"]
    assert message["role"] == "user"
    text = message["content"]["text"]
    assert "Task: Name the {task} API\n" in text
    places = [text.index(f"`{name}`") for name in FLOW]
    assert places == sorted(places)


WRONG = {
    "a prompt that is not there": {"name": "claims_nothing"},
    "no name": {},
    "no argument": {"name": "claims_task"},
    "an empty argument": {"name": "claims_task", "arguments": {"task": " "}},
    "an unknown argument": {"name": "claims_task", "arguments": {"task": "x", "colour": "red"}},
    "arguments that are no object": {"name": "claims_task", "arguments": ["task"]},
    "an argument that is no text": {"name": "claims_task", "arguments": {"task": 1}},
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_request_is_refused(app, name):
    assert Lines(app).ask("prompts/get", **WRONG[name])["error"]["code"] == -32602
    assert Lines(app).ask("prompts/list", cursor="x")["error"]["code"] == -32602


def test_who_does_not_see_the_tools_does_not_see_the_prompt(app):
    Lines(app).call("system", "status")
    for number, more in enumerate(({"modules": ["memory"]}, {"mask": ["*:write"]}, {"mask": ["claims.feedback"]})):
        caller = Http(app, key(app, f"caller{number}", **more))
        assert caller.ask("prompts/list")["result"]["prompts"] == []
        hidden = caller.ask("prompts/get", name="claims_task", arguments={"task": "x"})["error"]
        unknown = caller.ask("prompts/get", name="claims_tasks", arguments={"task": "x"})["error"]
        assert {**hidden, "data": None} == {**unknown, "data": None}
        assert "Claims:" not in caller.ask("server/discover")["result"]["instructions"]
    seen = Http(app, key(app, "all"))
    assert [each["name"] for each in seen.ask("prompts/list")["result"]["prompts"]] == ["claims_task"]


def test_any_module_may_offer_prompts():
    prompt = Prompt("ask", "Ask", "Ask something", "{a}, {b} and {c}", (PromptArgument("a", "first", required=True),
                    PromptArgument("b", "second")))  # fmt: skip
    modules = [ModuleInfo("house", "", "", (), {}, (prompt,))]
    assert [each["name"] for each in list_prompts(modules)] == ["house_ask"]
    (message,) = get_prompt(modules, "house_ask", {"a": "{b}"})["messages"]
    assert message["content"]["text"] == "{b},  and {c}"
    with pytest.raises(Missing):
        get_prompt(modules, "ask", {"a": "x"})
    with pytest.raises(Invalid):
        get_prompt(modules, "house_ask", {"b": "x"})
