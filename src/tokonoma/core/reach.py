"""Reach: what a credential may use. API keys, OAuth grants and people each hold one."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from tokonoma.core.errors import Invalid
from tokonoma.core.namespaces import is_inside

if TYPE_CHECKING:
    from tokonoma.core.module import ToolInfo

_RULE = re.compile(r"(\*|[a-z][a-z0-9_]*)(?:@([\w-]+))?(?:\.([\w.-]+|\*)|:(read|write|destroy))?")


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
    # Accounts must serve this namespace too; empty: the root alone. An account of a namespace belongs to those who live
    # there: a client that its person keeps to a smaller root must not get more accounts by it than that person has.
    accounts_from: str = ""

    @property
    def is_limited(self) -> bool:
        """Whether some tool may be hidden."""
        return self.modules is not None or bool(self.mask)

    def sees_module(self, name: str) -> bool:
        if self.modules is not None and name not in self.modules:
            return False
        return not self.mask or {MaskPattern("*"), MaskPattern(name)}.isdisjoint(map(parse_mask, self.mask))

    def sees_tool(self, tool: "ToolInfo", account: str | None = None) -> bool:
        if tool.extra and not self.extras & {"*", tool.path, f"{tool.module}.*"}:
            return False
        if self.modules is not None and tool.module not in self.modules:
            return False
        return not any(parse_mask(rule).matches(tool, account) for rule in self.mask)

    def uses_account(self, namespace: str) -> bool:
        """Whether accounts of this namespace serve the whole of this reach. Those below its root belong to others."""
        return is_inside(self.accounts_from or self.root, namespace)

    def covers(self, other: "Reach") -> bool:
        """Whether everything that the other may use may be used here too. In doubt, it says no: rules are compared as
        they are written."""
        has_modules = self.modules is None or (other.modules is not None and other.modules <= self.modules)
        has_extras = all(names_extra(self.extras, each) for each in other.extras)
        is_inside_root = is_inside(other.root, self.root) and self._has_accounts_of(other)
        return is_inside_root and has_modules and has_extras and self.mask <= other.mask

    def _has_accounts_of(self, other: "Reach") -> bool:
        """The deeper the namespace that accounts must serve, the more there are."""
        return is_inside(self.accounts_from or self.root, other.accounts_from or other.root)

    def may_write(self, module: str) -> bool:
        """False for a credential that may only read in this module: `*:write` or `module:write` is in its mask."""
        return {MaskPattern("*", effect="write"), MaskPattern(module, effect="write")}.isdisjoint(
            map(parse_mask, self.mask)
        )


def names_extra(extras: frozenset[str], name: str) -> bool:
    """Whether these name the extra tool `module.tool`, or all those that `module.*` stands for."""
    return not extras.isdisjoint({"*", name, f"{name.partition('.')[0]}.*"})


UNLIMITED = Reach()
