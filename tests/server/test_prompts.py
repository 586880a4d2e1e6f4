"""Prompts over the wire, in both eras: listed for those who see their tools, filled in with arguments."""

import pytest
from policy.houses import key
from talk import Http, Lines

from tokonoma.app import App
from tokonoma.core.call import Caller
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.module import ModuleInfo, Prompt, PromptArgument
from tokonoma.server.prompts import get_prompt, list_prompts, name_prompts

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
    assert len(instructions) < 1600  # every client pays for them
    *_, listed = talk.ask("prompts/list")["result"]["prompts"]
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
        assert "claims_task" not in [each["name"] for each in caller.ask("prompts/list")["result"]["prompts"]]
        hidden = caller.ask("prompts/get", name="claims_task", arguments={"task": "x"})["error"]
        unknown = caller.ask("prompts/get", name="claims_tasks", arguments={"task": "x"})["error"]
        assert {**hidden, "data": None} == {**unknown, "data": None}
        assert "Claims:" not in caller.ask("server/discover")["result"]["instructions"]
    seen = Http(app, key(app, "all"))
    names = [each["name"] for each in seen.ask("prompts/list")["result"]["prompts"]]
    assert names == ["remember", "recall", "review_week", "prepare_meeting", "claims_task"]


def test_any_module_may_offer_prompts():
    prompt = Prompt("ask", "Ask", "Ask something", "{a}, {b} and {c}", (PromptArgument("a", "first", required=True),
                    PromptArgument("b", "second")))  # fmt: skip
    named = name_prompts([], [ModuleInfo("house", "", "", (), {}, (prompt,))])
    assert [each["name"] for each in list_prompts(named)] == ["house_ask"]
    (message,) = get_prompt(named, "house_ask", {"a": "{b}"})["messages"]
    assert message["content"]["text"] == "{b},  and {c}"
    with pytest.raises(Missing):
        get_prompt(named, "ask", {"a": "x"})
    with pytest.raises(Invalid):
        get_prompt(named, "house_ask", {"b": "x"})


def test_a_line_about_an_argument_that_is_not_given_is_left_out():
    prompt = Prompt("ask", "", "", "start\n{?a}with {a}\n{?c}no argument\nend", (PromptArgument("a", ""),))
    named = name_prompts([prompt], [])
    for given, meant in (({"a": "{?b}x"}, "start\nwith {?b}x\n"), ({}, "start\n"), ({"a": " "}, "start\n")):
        (message,) = get_prompt(named, "ask", given)["messages"]
        assert message["content"]["text"] == meant + "{?c}no argument\nend"


def test_prompts_speak_the_language_of_the_house(tmp_path):
    japanese = App({"home": str(tmp_path / "home"), "durable": False}, {"LANG": "ja_JP.UTF-8"})
    talk = Lines(japanese)
    listed = {each["name"]: each for each in talk.ask("prompts/list")["result"]["prompts"]}
    assert list(listed) == ["remember", "recall", "review_week", "prepare_meeting", "claims_task"]
    assert [listed[name]["title"] for name in ("recall", "claims_task")] == ["思い出す", "主張を使って作業する"]
    got = talk.ask("prompts/get", name="remember", arguments={"text": "猫は寝る"})["result"]
    assert "覚えておいてください：猫は寝る" in got["messages"][0]["content"]["text"]
    assert "覚える：" in japanese.dispatcher.get_instructions(Caller("stdio"))
    japanese.close()
