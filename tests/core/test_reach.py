"""What a credential may use: masks by module, tool, effect and account."""

import pytest

from tokonoma import catalogue
from tokonoma.core.errors import Invalid
from tokonoma.core.reach import MaskPattern, Reach, parse_mask

TOOLS = {
    entry.path: entry
    for module in catalogue.read_catalogue(catalogue.CATALOGUE_FILE)
    if module.name != "gateway"
    for entry in module.entries
    if not entry.extra  # those are hidden unless a reach names them
}


def seen(*mask: str, **more) -> set[str]:
    reach = Reach(mask=frozenset(mask), **more)
    return {path for path, tool in TOOLS.items() if reach.sees_tool(tool)}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("memory", MaskPattern("memory")),
        ("memory.save", MaskPattern("memory", tool="save")),
        ("memory.relation.save", MaskPattern("memory", tool="relation.save")),
        ("*:destroy", MaskPattern("*", effect="destroy")),
        ("github@work:write", MaskPattern("github", account="work", effect="write")),
        ("notion@private", MaskPattern("notion", account="private")),
        ("github@work.merge_pr", MaskPattern("github", account="work", tool="merge_pr")),
    ],
)
def test_rules_are_parsed(text, rule):
    assert parse_mask(text) == rule


@pytest.mark.parametrize(
    "text", ["", "memory:", "memory:delete", ":write", "*.save", "*@work", "Memory save", "a@", "."]
)
def test_what_is_no_rule_is_refused(text):
    with pytest.raises(Invalid, match="not a mask"):
        parse_mask(text)


def test_only_reading_leaves_exactly_the_tools_that_read():
    assert seen("*:write", "*:destroy") == {path for path, tool in TOOLS.items() if tool.effect == "read"}


def test_a_module_a_tool_and_an_effect_can_be_hidden():
    assert not any(path.startswith("memory.") for path in seen("memory"))
    assert set(TOOLS) - seen("memory.save") == {"memory.save"}
    hidden = set(TOOLS) - seen("memory:destroy")
    assert hidden
    assert all(TOOLS[path].module == "memory" and TOOLS[path].effect == "destroy" for path in hidden)
    assert not seen("*")


def test_a_rule_about_one_account_hides_nothing_else():
    tool = TOOLS["memory.save"]
    reach = Reach(mask=frozenset({"memory@work:write"}))
    assert reach.sees_tool(tool)
    assert reach.sees_tool(tool, "home")
    assert not reach.sees_tool(tool, "work")
    assert reach.sees_module("memory")


def test_modules_that_are_not_named_are_hidden():
    assert {path.split(".")[0] for path in seen(modules=frozenset({"items"}))} == {"items"}


def test_extra_tools_are_hidden_unless_they_are_named():
    from dataclasses import replace

    tool = replace(TOOLS["memory.save"], extra=True)
    assert not Reach().sees_tool(tool)
    for name in ("memory.save", "memory.*", "*"):
        assert Reach(extras=frozenset({name})).sees_tool(tool)
    assert not Reach(extras=frozenset({"items.*"})).sees_tool(tool)


def test_a_module_is_hidden_by_the_list_by_its_name_and_by_the_star():
    assert Reach(modules=frozenset({"memory"})).sees_module("memory")
    assert not Reach(modules=frozenset({"memory"})).sees_module("items")
    assert not Reach(mask=frozenset({"items"})).sees_module("items")
    assert not Reach(mask=frozenset({"*"})).sees_module("items")
    assert Reach(mask=frozenset({"items.list"})).sees_module("items")


def test_who_may_only_read_is_told_by_its_mask():
    def may_write(*mask: str) -> bool:
        return Reach(mask=frozenset(mask)).may_write("vault")

    assert may_write()
    assert may_write("*:destroy", "memory:write", "vault.write", "vault@work:write")
    assert not may_write("*:write")
    assert not may_write("vault:write")
