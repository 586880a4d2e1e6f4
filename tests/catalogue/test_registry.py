"""Names, masks and lazy loading."""

import pytest
from pipeline import slow
from talk import Lines

from tokonoma import catalogue
from tokonoma.app import App
from tokonoma.catalogue import plugins
from tokonoma.catalogue import registry as registry_module
from tokonoma.catalogue.registry import Registry
from tokonoma.core.call import OWNER, Principal
from tokonoma.core.errors import Denied, Missing
from tokonoma.core.module import Module, ModuleInfo, Tool, ToolInfo
from tokonoma.core.reach import Reach


def entry(module, name, listed="", aliases=()):
    return ToolInfo(
        module, name, listed or f"{module}_{name}", name, "d", "read", False, False, aliases, {}, {}, f"{name}()"
    )


def shelves():
    return [
        ModuleInfo("gateway", "g", "g", [entry("gateway", "call", "call")]),
        ModuleInfo(
            "memory",
            "memos",
            "memory",
            [entry("memory", "save"), entry("memory", "relation.save", "memory_relation_save")],
        ),
        ModuleInfo(
            "claims", "claims", "claims", [entry("claims", "activate", "pce_memory_activate", ("pce.memory.activate",))]
        ),
        ModuleInfo("items", "items", "items", [entry("items", "create_item", "create_item")]),
    ]


def made(**more):
    return Registry(shelves(), lambda source: pytest.fail("nothing is loaded for this"), lambda module: None, **more)


@pytest.mark.parametrize(
    ("module", "name", "found"),
    [
        ("memory", "save", "save"),
        ("memory", "memory.save", "save"),
        ("memory", "memory_save", "save"),
        ("memory", "relation.save", "relation.save"),
        ("memory", "relation_save", "relation.save"),
        ("memory", "memory_relation_save", "relation.save"),
        ("claims", "activate", "activate"),
        ("claims", "pce.memory.activate", "activate"),
        ("items", "create_item", "create_item"),
    ],
)
def test_every_spelling_of_a_name_is_understood(module, name, found):
    assert made().find_tool(module, name, OWNER).name == found


@pytest.mark.parametrize(
    "name", ["memory_save", "memory.save", "create_item", "pce.memory.activate", "pce_memory_activate"]
)
def test_listed_names_are_found_without_their_module(name):
    assert made().find_tool("", name, OWNER).listed


@pytest.mark.parametrize("name", ["save", "activate", "nothing"])
def test_short_names_mean_nothing_without_their_module(name):
    with pytest.raises(Missing):
        made().find_tool("", name, OWNER)


def test_near_misses_are_told_the_nearest_name():
    with pytest.raises(Missing, match="'save'") as refused:
        made().find_tool("memory", "saev", OWNER)
    assert refused.value.details["nearest"] == ["save"]
    with pytest.raises(Missing, match="'memory'"):
        made().find_tool("memmory", "save", OWNER)
    with pytest.raises(Missing, match="memory_save"):
        made().find_tool("", "memory_sav", OWNER)


def test_the_gateway_is_no_module_to_be_called():
    with pytest.raises(Missing):
        made().find_tool("gateway", "call", OWNER)
    assert "gateway" not in [shelf.name for shelf in made().visible_modules(OWNER)]


MASKED = [
    Principal("k", "key", Reach(modules=frozenset({"items"}))),
    Principal("k", "key", Reach(mask=frozenset({"memory"}))),
    Principal("k", "key", Reach(mask=frozenset({"memory.save", "memory.relation.save"}))),
]


@pytest.mark.parametrize("who", MASKED, ids=["modules", "module masked", "tools masked"])
def test_a_masked_module_looks_as_if_it_did_not_exist(who):
    registry = made()
    assert "memory" not in [shelf.name for shelf in registry.visible_modules(who)]
    with pytest.raises(Missing) as masked:
        registry.find_tool("memory", "save", who)
    assert "save" not in str(masked.value.details.get("nearest"))


def test_a_masked_tool_is_gone_from_lists_and_hints():
    who = Principal("k", "key", Reach(mask=frozenset({"memory.save"})))
    registry = made()
    memory = next(shelf for shelf in registry.visible_modules(who) if shelf.name == "memory")
    assert [each.name for each in memory.entries] == ["relation.save"]
    with pytest.raises(Missing) as refused:
        registry.find_tool("memory", "save", who)
    assert refused.value.details["tools"] == ["relation.save"]


def test_a_module_that_is_switched_off_says_so():
    with pytest.raises(Denied) as refused:
        made(off=frozenset({"memory"})).find_tool("memory", "save", OWNER)
    assert refused.value.reason == "module"


def test_code_is_loaded_and_prepared_once_on_the_first_call():
    def save(desk: object) -> dict[str, str]:
        """Save."""
        return {}

    loaded, prepared = [], []
    module = Module("memory", "memos", (Tool("save", save, "Save"),))
    registry = Registry(
        shelves(), lambda source: loaded.append(source) or module, lambda each: prepared.append(each.name)
    )
    found = registry.find_tool("memory", "save", OWNER)
    assert loaded == []
    assert registry.load_tool(found) is registry.load_tool(found)
    assert (loaded, prepared) == (["memory"], ["memory"])
    with pytest.raises(Missing, match="plugins enable"):
        registry.load_tool(registry.find_tool("memory", "relation.save", OWNER))


def test_a_plugin_that_another_process_enables_is_there_within_a_second_and_gone_when_it_is_disabled(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(registry_module, "POLL_SECONDS", 0.0)
    app = App({"home": str(tmp_path), "durable": False}, {})
    talk = Lines(app)
    try:
        assert talk.refused("slow", "echo", text="x")["code"] == "NOT_FOUND"
        described = catalogue.describe_module(slow.MODULE, "pipeline.slow:MODULE")
        plugins.plugins_file(tmp_path).write_bytes(catalogue.dump_catalogue([described]))
        assert talk.call("slow", "echo", text="x") == {"said": "x"}
        assert "slow" in talk.ask("tools/list")["result"]["tools"][0]["description"]
        plugins.plugins_file(tmp_path).unlink()
        assert talk.refused("slow", "echo", text="x")["code"] == "NOT_FOUND"
        assert talk.call("memory", "save", content="the others stay")
    finally:
        app.close()
