"""Reach: what a credential may use. API keys hold one today; OAuth grants and web sessions will hold the same value."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from tokonoma.core.errors import Invalid

if TYPE_CHECKING:
    from tokonoma.core.module import ToolInfo

_RULE = re.compile(r"(\*|[a-z][a-z0-9_]*)(?:@([\w-]+))?(?:\.([\w.]+|\*)|:(read|write|destroy))?")


@dataclass(frozen=True, slots=True)
class MaskPattern:
    """One line of a mask: `scope[.tool | :effect]`, where scope is `*`, `module` or `module@account`."""

    module: str  # `*`: every module
    account: str | None = None
    tool: str | None = None
    effect: Literal["read", "write", "destroy"] | None = None

    def matches(self, tool: "ToolInfo", account: str | None) -> bool:
        """A rule about one account says nothing about a call that names no account."""
        if self.module not in ("*", tool.module) or self.account not in (None, account):
            return False
        if self.effect is not None:
            return tool.effect == self.effect
        return self.tool is None or self.tool == tool.name


@lru_cache(maxsize=4096)
def parse_mask(text: str) -> MaskPattern:
    """Invalid for anything that is not a rule: a mask that hides nothing by a misspelling must not pass."""
    found = _RULE.fullmatch(text)
    if found is None or (found[1] == "*" and (found[2] or found[3])):
        raise Invalid(
            f"{text!r} is not a mask. Write `module`, `module.tool`, `module:write`, `module@account` or `*:destroy`.",
            field="mask",
        )
    module, account, tool, effect = found.groups()
    return MaskPattern(module, account, None if tool == "*" else tool, effect)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Reach:
    """The root is a wall that a credential cannot leave; the default is the namespace that it starts in."""

    root: str = "/"
    default: str = "/"
    modules: frozenset[str] | None = None  # None: all that the server offers
    mask: frozenset[str] = frozenset()  # rules; what one of them matches does not exist for this credential
    extras: frozenset[str] = frozenset()  # tools of the tier `extra` that it may use: `module.tool`, `module.*`, `*`

    @property
    def is_limited(self) -> bool:
        """Whether some tool may be hidden."""
        return self.modules is not None or bool(self.mask)

    def sees_module(self, name: str) -> bool:
        if self.modules is not None and name not in self.modules:
            return False
        return {MaskPattern("*"), MaskPattern(name)}.isdisjoint(map(parse_mask, self.mask))

    def sees_tool(self, tool: "ToolInfo", account: str | None = None) -> bool:
        if tool.extra and not self.extras & {"*", tool.path, f"{tool.module}.*"}:
            return False
        if self.modules is not None and tool.module not in self.modules:
            return False
        return not any(parse_mask(rule).matches(tool, account) for rule in self.mask)

    def may_write(self, module: str) -> bool:
        """False for a credential that may only read in this module: `*:write` or `module:write` is in its mask."""
        return {MaskPattern("*", effect="write"), MaskPattern(module, effect="write")}.isdisjoint(
            map(parse_mask, self.mask)
        )


UNLIMITED = Reach()
