"""The section `tools` of a policy. A rule that matches nothing by a misspelling must not pass: it may be what keeps a
tool from running."""

import re
from collections.abc import Collection
from typing import Any, cast

from tokonoma.core.errors import find_nearest
from tokonoma.core.policy import TOOL_VERDICTS
from tokonoma.core.providers import SERVICE_NAMES
from tokonoma.policy.parse_values import PolicyValues
from tokonoma.policy.tool_regions import find_shadow
from tokonoma.policy.tool_rules import GATEWAY, ToolRule
from tokonoma.policy.yaml_tree import YamlNode

_EFFECTS = ("read", "write", "destroy")
_TOOL = re.compile(r"\*|([a-z][a-z0-9_]*)\.(\*|\w[\w.]*)", re.ASCII)
_ACCOUNT = re.compile(r"[\w-]{1,64}")
_NOTHING = ToolRule("deny")
_MAX_CALLER = 200


def parse_tool_rules(
    values: PolicyValues, node: YamlNode | None, proposed: bool, tools: Collection[str]
) -> tuple[ToolRule, ...]:
    """`tools`: the paths of all tools (`memory.save`), if known. Only a proposed policy must name such ones."""
    before = len(values.problems)
    rules = values.take_list(node, lambda each: _parse_rule(values, each, tools if proposed else ()))
    if node is not None and proposed and len(values.problems) == before:
        for place, each in enumerate(cast("list[YamlNode]", node.value or [])):
            if (shadow := find_shadow(rules, place)) is not None:
                message = f"this rule is never used: tools[{shadow}] matches the same calls, and the first match counts"
                values.report(each, message, None)
    return tuple(rules)


def _parse_rule(values: PolicyValues, node: YamlNode, tools: Collection[str]) -> ToolRule:
    given = values.take_members(node, ("caller", "tool", "effect", "account", "verdict"))
    if "verdict" not in given or not given.keys() & {"tool", "effect"}:
        return values.report(node, "give a verdict, and a tool or an effect", _NOTHING)
    verdict = values.take_one_of(given["verdict"], TOOL_VERDICTS, "deny")
    effect = values.take_one_of(given.get("effect"), _EFFECTS, "")
    module, tool = _parse_tool(values, given["tool"], tools) if "tool" in given else ("*", "")
    account = _parse_account(values, given["account"], module) if "account" in given else ""
    caller = values.take_text(given["caller"]) if "caller" in given else "*"
    if not 0 < len(caller) <= _MAX_CALLER:
        values.report(given["caller"], "a caller is a name such as owner, key:ci or key:*", None)
    return ToolRule(cast("Any", verdict), caller, module, tool, cast("Any", effect or None), account)


def _parse_tool(values: PolicyValues, node: YamlNode, tools: Collection[str]) -> tuple[str, str]:
    """Its module and its name, each `*` or empty for all."""
    text = values.take_text(node)
    found = _TOOL.fullmatch(text)
    if found is None:
        return values.report(node, "a tool looks like memory.save, memory.* or *", ("*", ""))
    if text == "*":
        return "*", ""
    module, tool = found[1], "" if found[2] == "*" else found[2]
    if (module, tool) == (GATEWAY, "call"):
        values.report(node, "call only passes a call on; name the tool that is called", None)
    known = {each.partition(".")[0] for each in tools}
    if tools and module not in known:
        _report_unknown(values, node, f"there is no module {module!r}", module, known)
    elif tools and tool and text not in tools:
        inside = [each for each in tools if each.startswith(f"{module}.")]
        _report_unknown(values, node, f"there is no tool {text!r}", text, inside)
    return module, tool


def _report_unknown(values: PolicyValues, node: YamlNode, message: str, name: str, known: Collection[str]) -> None:
    meant = find_nearest(name, known, 1)
    values.report(node, f"{message}; did you mean {meant[0]}?" if meant else message, None)


def _parse_account(values: PolicyValues, node: YamlNode, module: str) -> str:
    text = values.take_text(node)
    if not _ACCOUNT.fullmatch(text):
        return values.report(node, "an account is a name such as work", "")
    if module != "*" and module not in SERVICE_NAMES:
        values.report(node, f"{module} has no accounts", None)
    return text
