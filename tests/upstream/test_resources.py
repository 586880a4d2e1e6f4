"""Resources and prompts of MCP servers: by the tools of their modules, by `fetch`, and by the protocol."""

import json

import pytest
from policy.houses import key
from talk import Lines
from upstream.houses import Plan, add, tool
from upstream.test_calls import KeyLines

OFFERS = {"resources": {}, "prompts": {}}


@pytest.fixture
def odd(house, tmp_path):
    plan = Plan(tmp_path, tools=[tool("echo", readOnlyHint=True)], capabilities=OFFERS)
    add(house, "odd", plan)
    return plan


@pytest.mark.usefixtures("odd")
def test_resources_are_read_by_tools_fetch_and_the_protocol(house):
    talk = Lines(house)
    assert talk.call("odd", "list_resources") == {"resources": [{"uri": "demo://a/1", "name": "one"}]}
    contents = [{"uri": "demo://a/1", "text": "text of demo://a/1"}]
    assert talk.call("odd", "read_resource", uri="demo://a/1") == {"contents": contents}
    found = talk.value("fetch", id="tokonoma://odd/demo://a/1")
    assert (found["text"], found["metadata"]) == ("text of demo://a/1", {"module": "odd"})
    read = talk.ask("resources/read", uri="tokonoma://odd/demo://a/1")["result"]["contents"]
    assert read[0]["text"] == "text of demo://a/1"
    listing = talk.ask("resources/read", uri="tokonoma://odd/")["result"]["contents"][0]["text"]
    assert listing == "- [one](tokonoma://odd/demo://a/1)\n"


def test_they_are_offered_without_starting_anything(house, odd):
    talk = Lines(house)
    listed = talk.ask("resources/list")["result"]["resources"]
    assert "tokonoma://odd/" in [each["uri"] for each in listed]
    templates = talk.ask("resources/templates/list")["result"]["resourceTemplates"]
    assert "tokonoma://odd/{+uri}" in [each["uriTemplate"] for each in templates]
    assert "odd_weather" in [each["name"] for each in talk.ask("prompts/list")["result"]["prompts"]]
    assert odd.events == []


def test_a_server_that_tells_of_no_changes_is_not_watched(house, odd):
    talk = Lines(house)
    talk.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "a", "version": "1"})
    refused = talk.ask("resources/subscribe", uri="tokonoma://odd/demo://a/1")
    assert refused["error"]["message"].startswith("This server does not tell when a resource changes.")
    assert "subscribed demo://a/1" not in odd.events


@pytest.mark.usefixtures("odd")
def test_prompts_are_relayed(house):
    talk = Lines(house)
    found = talk.ask("prompts/get", name="odd_weather", arguments={"city": "Kyoto"})["result"]
    assert found["messages"] == [{"role": "user", "content": {"type": "text", "text": "The weather in Kyoto"}}]
    assert talk.ask("prompts/get", name="odd_nothing", arguments={})["error"]["code"] == -32602


def test_what_a_mask_hides_cannot_be_read_in_any_way(house, odd):
    key(house, "narrow", mask=["odd.read_resource", "odd.get_prompt"])
    talk = KeyLines(house, "narrow")
    assert talk.error("fetch", id="tokonoma://odd/demo://a/1")["code"] == "NOT_FOUND"
    assert "error" in talk.ask("resources/read", uri="tokonoma://odd/demo://a/1")
    assert "odd_weather" not in json.dumps(talk.ask("prompts/list"))
    assert "error" in talk.ask("prompts/get", name="odd_weather", arguments={"city": "Kyoto"})
    assert odd.events == []
