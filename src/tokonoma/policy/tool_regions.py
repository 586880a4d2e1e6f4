"""How rules about tools lie to each other, and what one list of them permits that another does not. Pure.

On the safe side: `covers` says yes only if it is certain, `intersect` says no only if it is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tokonoma.core.module import Effect
from tokonoma.core.policy import TOOL_VERDICTS
from tokonoma.policy.name_patterns import can_match_both, covers_name
from tokonoma.policy.tool_rules import GATEWAY, ToolRule

_DEFAULT = ToolRule("allow")


@dataclass(frozen=True, slots=True)
class ToolRegion:
    """Calls that two rules match: the names of their callers match all of the patterns."""

    callers: tuple[str, ...]
    module: str
    tool: str
    effect: Effect | None
    account: str

    def describe(self) -> str:
        what = "*" if self.module == "*" else f"{self.module}.{self.tool or '*'}"
        parts = [f"{what} ({self.effect})" if self.effect else what]
        if self.account:
            parts.append(f"with the account {self.account}")
        who = [each for each in self.callers if each != "*"]
        return " ".join([*parts, f"for {' and '.join(who)}"] if who else parts)


def intersect(one: ToolRule, other: ToolRule) -> ToolRegion | None:
    """What both may match; None if surely nothing."""
    if one.module != other.module and "*" not in (one.module, other.module):
        return None
    if one.tool and other.tool and one.tool != other.tool:
        return None
    if one.effect and other.effect and one.effect != other.effect:
        return None
    if one.account and other.account and one.account != other.account:
        return None
    if not can_match_both(one.caller, other.caller):
        return None
    module = other.module if one.module == "*" else one.module
    callers = tuple(dict.fromkeys((one.caller, other.caller)))
    return ToolRegion(callers, module, one.tool or other.tool, one.effect or other.effect, one.account or other.account)


def covers(rule: ToolRule, region: ToolRegion) -> bool:
    """Whether the rule surely matches every call of the region."""
    if rule.module == "*":
        is_inside = region.module != GATEWAY  # of the gateway it does not match all tools
    else:
        is_inside = rule.module == region.module and rule.tool in ("", region.tool)
    return (
        is_inside
        and rule.effect in (None, region.effect)
        and rule.account in ("", region.account)
        and any(covers_name(rule.caller, each) for each in region.callers)
    )


def find_shadow(rules: Sequence[ToolRule], place: int) -> int | None:
    """The place of an earlier rule that matches all that this one matches; None if there is none."""
    whole = _to_region(rules[place])
    return next((number for number, rule in enumerate(rules[:place]) if covers(rule, whole)), None)


def compare_tools(old: Sequence[ToolRule], new: Sequence[ToolRule]) -> Iterator[str]:
    """What the new rules let through that the old ones asked about or refused. A call is decided by one rule of each
    list; every such pair that may exist is looked at."""
    if old == new:
        return
    for place, rule in enumerate((*new, _DEFAULT)):
        for number, before in enumerate(old):
            if TOOL_VERDICTS.index(rule.verdict) >= TOOL_VERDICTS.index(before.verdict):
                continue
            region = _to_region(before) if rule is _DEFAULT else intersect(rule, before)
            if region is None or any(covers(each, region) for each in (*old[:number], *new[:place])):
                continue
            yield f"tools: {region.describe()} becomes {rule.verdict} instead of {before.verdict}"


def _to_region(rule: ToolRule) -> ToolRegion:
    return ToolRegion((rule.caller,), rule.module, rule.tool, rule.effect, rule.account)
