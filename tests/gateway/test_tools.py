"""get_module_schema and call, and what the three tools look like to an agent."""

import jsonschema
import orjson
import pytest

from tokonoma.catalogue import describe_module
from tokonoma.catalogue.registry import to_mcp_tool
from tokonoma.core.call import Principal
from tokonoma.core.errors import Invalid, Missing, Unavailable, Unready
from tokonoma.core.reach import Reach
from tokonoma.gateway import GATEWAY_TOOLS, META_TOOLS
from tokonoma.gateway.tools import MODULE


def test_the_meta_tools_are_short():
    # The tools of resources are in no list: clients use the methods of the protocol.
    listed = [to_mcp_tool(entry) for entry in describe_module(MODULE, "").entries if entry.name in META_TOOLS]
    assert [each["name"] for each in listed] == list(META_TOOLS)
    # With the surface `gateway`, tools/list has 4 KB, and the modules' names stand in it too.
    assert len(orjson.dumps([each for each in listed if each["name"] in GATEWAY_TOOLS])) <= 3500
    assert len(orjson.dumps(listed[-1])) <= 550
    for each in listed:
        assert len(each["description"]) <= 600
        jsonschema.Draft202012Validator.check_schema(each["inputSchema"])
        jsonschema.Draft202012Validator.check_schema(each["outputSchema"])
        assert not {"anyOf", "oneOf", "allOf", "$ref"} & each["inputSchema"].keys()


def test_every_answer_fits_its_schema(house):
    schemas = {entry.name: entry.output for entry in describe_module(MODULE, "").entries}
    lines = '{"id":"a","module":"demo","tool":"echo","output":true}\n{"id":"b","module":"demo","tool":"fail"}'
    for name, arguments in [
        ("batch", {"jsonl": lines}),
        ("batch", {"jsonl": lines, "dry_run": True}),
        ("get_module_schema", {"module": "*"}),
        ("get_module_schema", {"module": "demo"}),
        ("get_module_schema", {"module": ["demo", "other"], "format": "json"}),
        ("call", {"module": "demo", "tool_name": "echo"}),
    ]:
        jsonschema.validate(house.ask(name, **arguments), schemas[name])


def test_signatures_by_default(house):
    (module,) = house.ask("get_module_schema", module="demo")["modules"]
    assert (module["name"], module["summary"]) == ("demo", "Tools for tests.")
    assert module["tools"][1].startswith("number(n: int) -> {value: any}\n  Takes a whole number.")


def test_json_schemas_on_request(house):
    (module,) = house.ask("get_module_schema", module=["demo", "demo"], format="json")["modules"]
    number = module["tools"][1]
    assert number["name"] == "number"
    assert number["inputSchema"]["required"] == ["n"]
    assert number["outputSchema"]["properties"] == {"value": {}}
    assert number["annotations"]["readOnlyHint"] is True


def test_a_star_lists_all_modules_with_bare_names(house):
    modules = house.ask("get_module_schema", module="*")["modules"]
    assert [each["name"] for each in modules] == ["demo", "other"]
    assert modules[0]["tools"] == ["echo", "number", "wait", "deaf", "fail"]


def test_unknown_modules_are_told_at_once_with_the_nearest_and_all_that_exist(house):
    with pytest.raises(Missing) as refused:
        house.ask("get_module_schema", module=["demo", "demmo", "gateway"])
    assert "'demmo', 'gateway'" in refused.value.message
    assert refused.value.details["nearest"] == ["demo"]
    assert refused.value.details["modules"] == ["demo", "other"]
    with pytest.raises(Missing, match="There are: demo, other"):
        house.ask("get_module_schema", module="zzzzzz")


@pytest.mark.parametrize("names", [[], [f"m{number}" for number in range(51)]])
def test_no_modules_and_too_many_are_refused_with_those_that_exist(house, names):
    with pytest.raises(Invalid, match=r"1 to 50 modules\. There are: demo, other"):
        house.ask("get_module_schema", module=names)


def test_masked_modules_and_tools_do_not_exist(house):
    house.who = Principal("p", "key", Reach(modules=frozenset({"demo"}), mask=frozenset({"demo.echo"})))
    assert [each["name"] for each in house.ask("get_module_schema", module="*")["modules"]] == ["demo"]
    (module,) = house.ask("get_module_schema", module="demo")["modules"]
    assert not [tool for tool in module["tools"] if tool.startswith("echo(")]
    with pytest.raises(Missing) as refused:
        house.ask("get_module_schema", module="other")
    assert refused.value.details["modules"] == ["demo"]
    with pytest.raises(Missing, match="'echo'"):
        house.ask("call", module="demo", tool_name="echo")
    lines = '{"id":"a","module":"demo","tool":"echo"}\n{"id":"b","module":"other","tool":"echo"}'
    with pytest.raises(Invalid) as refused_batch:
        house.ask("batch", jsonl=lines)
    assert [fault["field"] for fault in refused_batch.value.details["errors"]] == ["tool", "module"]


@pytest.mark.parametrize("module", ["gateway", "nobody"])
def test_call_cannot_name_the_gateway(house, module):
    with pytest.raises(Missing):
        house.ask("call", module=module, tool_name="batch", params={"jsonl": ""})


def test_call_passes_refusals_and_cancellation_on(house):
    with pytest.raises(Invalid) as refused:
        house.ask("call", module="demo", tool_name="number", params={"n": "x"})
    assert refused.value.details["signature"].startswith("number(n: int)")
    asked = house.start("call", module="demo", tool_name="wait", params={"gate": "g"})
    assert house.stage.inside("g").wait(60)
    asked.call.cancel_token.cancel("cancelled")
    with pytest.raises(Unavailable) as cancelled:
        asked.value()
    assert cancelled.value.reason == "cancelled"


def test_the_catalogues_own_gateway_is_not_bound():
    batch = next(tool for tool in MODULE.tools if tool.name == "batch")
    for passed_in in batch.run.__closure__:
        if callable(passed_in.cell_contents):
            with pytest.raises(Unready):
                passed_in.cell_contents(None, None)
