"""Rules about tools: which calls of a caller run, which a person approves first, and which are refused. Pure.

The first rule that matches a call counts, as in `callers` and `masks`: an exception stands before the rule that it is
one of. A call that no rule matches is allowed.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tokonoma.core.module import Effect, ToolInfo
from tokonoma.core.policy import TOOL_VERDICTS, ToolVerdict

GATEWAY = "gateway"


@dataclass(frozen=True, slots=True)
class ToolRule:
    """It matches a call if all its parts do."""

    verdict: ToolVerdict
    caller: str = "*"  # a glob over names of principals
    module: str = "*"
    tool: str = ""  # empty: every tool of the module
    effect: Effect | None = None
    account: str = ""  # of a service; empty: whatever account is used

    def matches(self, caller: str, tool: ToolInfo) -> bool:
        """Apart from the account. Tools that hold other calls, such as `batch`, are only meant where a rule names the
        gateway: each call that they hold is matched itself."""
        if self.module != tool.module and (self.module != "*" or holds_calls(tool)):
            return False
        return (
            self.tool in ("", tool.name)
            and self.effect in (None, tool.effect)
            and (self.caller == "*" or fnmatchcase(caller, self.caller))
        )


def holds_calls(tool: ToolInfo) -> bool:
    """Whether a tool holds other calls, each of which passes the pipeline itself."""
    return tool.module == GATEWAY and tool.effect != "read"


def list_matching(rules: Sequence[ToolRule], caller: str, tool: ToolInfo) -> tuple[ToolRule, ...]:
    """The rules that can decide about calls of this tool: all up to the first that holds for every account."""
    return tuple(_iterate_matching(rules, caller, tool))


def _iterate_matching(rules: Sequence[ToolRule], caller: str, tool: ToolInfo) -> Iterator[ToolRule]:
    for rule in rules:
        if rule.matches(caller, tool):
            yield rule
            if not rule.account:
                return


def choose_verdict(matching: Sequence[ToolRule], account: Callable[[], str] | None) -> ToolVerdict:
    """`account` finds the account that the call uses, empty for none, and is asked only if a rule names one. None: it
    is not known, and the strictest rule counts."""
    if account is None:
        places = (TOOL_VERDICTS.index(rule.verdict) for rule in matching)
        return TOOL_VERDICTS[max(places, default=0)]
    used: str | None = None
    for rule in matching:
        if not rule.account:
            return rule.verdict
        used = account() if used is None else used
        if rule.account == used:
            return rule.verdict
    return "allow"
