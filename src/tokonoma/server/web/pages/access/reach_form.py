"""The editor of a reach: a tree of modules, tools and accounts in which a tick means "may use". What is not ticked
becomes a rule of the mask. It needs no script: the form says which ticks it has shown."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from tokonoma.catalogue.explain import find_rule
from tokonoma.core.errors import Invalid
from tokonoma.core.module import ModuleInfo, ToolInfo
from tokonoma.core.reach import MaskPattern, Reach, parse_mask
from tokonoma.server.web.access_parts import ReachFields
from tokonoma.server.web.pages.request import PageRequest

_EFFECTS = ("read", "write", "destroy")
_EVERYWHERE = tuple(f"*:{effect}" for effect in _EFFECTS)


@dataclass(frozen=True, slots=True)
class Tick:
    """A box of the tree: `rule` is what the mask holds if it is not ticked."""

    rule: str
    name: str
    ticked: bool


@dataclass(frozen=True, slots=True)
class ToolBranch:
    tick: Tick
    title: str
    effect: str
    extra: bool
    hidden_by: str  # a rule about more than this tool, which hides it
    accounts: Sequence[Tick]


@dataclass(frozen=True, slots=True)
class AccountBranch:
    tick: Tick
    effects: Sequence[Tick]


@dataclass(frozen=True, slots=True)
class ModuleBranch:
    tick: Tick
    summary: str
    effects: Sequence[Tick]
    accounts: Sequence[AccountBranch]
    tools: Sequence[ToolBranch]
    all_extras: Tick | None  # `module.*`, if it has extra tools
    shown: str  # all rules that have a tick here, for the form

    @property
    def allowed(self) -> int:
        return sum(each.tick.ticked and not each.hidden_by for each in self.tools) if self.tick.ticked else 0


@dataclass(frozen=True, slots=True)
class ReachTree:
    all_modules: bool
    everywhere: Sequence[Tick]
    everywhere_shown: str
    modules: Sequence[ModuleBranch]
    other_rules: str  # about what the tree does not show, such as a module that is gone


def to_fields(reach: Reach) -> ReachFields:
    mask = {_write_rule(parse_mask(rule)) for rule in reach.mask}
    return ReachFields(reach.root, reach.default, reach.modules, mask, reach.extras)


def read_fields(request: PageRequest, old: Reach) -> ReachFields:
    """What the form says. Invalid if no module is left."""
    shown = {rule for line in request.list_field("shown") for rule in line.split()}
    allowed = set(request.list_field("allow"))
    hidden = shown - allowed
    modules: set[str] | None = None
    if request.get_field("scope") == "chosen":
        names = {rule for rule in shown if rule.isidentifier()}
        hidden -= names
        modules = (names & allowed) | ((old.modules or frozenset[str]()) - names)
        if not modules:
            raise Invalid("Choose at least one module.")
    other = request.get_field("other").replace(",", " ").split()
    root, default = (request.get_field(name).strip() for name in ("root", "default"))
    return ReachFields(root, default, modules, hidden | set(other), _merge_extras(set(request.list_field("extra"))))


def _merge_extras(named: set[str]) -> set[str]:
    """Without single tools whose module is named as a whole: their ticks show that they are included."""
    whole = {each.removesuffix(".*") for each in named if each.endswith(".*")}
    return {each for each in named if each.endswith(".*") or each.partition(".")[0] not in whole}


def build_tree(infos: Sequence[ModuleInfo], fields: ReachFields) -> ReachTree:
    reach = Reach(modules=_freeze(fields.modules), mask=frozenset(fields.mask), extras=frozenset(fields.extras))
    branches = [_build_module(info, reach) for info in sorted(infos, key=lambda each: each.name)]
    shown = {rule for each in branches for rule in each.shown.split()} | set(_EVERYWHERE)
    return ReachTree(
        all_modules=fields.modules is None,
        everywhere=[_tick(rule, effect, reach) for rule, effect in zip(_EVERYWHERE, _EFFECTS, strict=True)],
        everywhere_shown=" ".join(_EVERYWHERE),
        modules=branches,
        other_rules=" ".join(sorted(reach.mask - shown)),
    )


def _build_module(info: ModuleInfo, reach: Reach) -> ModuleBranch:
    name, accounts = info.name, list(dict.fromkeys(each.name for each in info.accounts or ()))
    own = _tick(name, name, reach)
    if reach.modules is not None and name not in reach.modules:
        own = replace(own, ticked=False)
    branches = [
        AccountBranch(_tick(f"{name}@{each}", each, reach), _list_effects(f"{name}@{each}", reach)) for each in accounts
    ]
    tools = [_build_tool(tool, reach, accounts) for tool in info.entries]
    effects = _list_effects(name, reach)
    rules = [name, *(each.rule for each in effects)]
    rules += [tick.rule for each in branches for tick in (each.tick, *each.effects)]
    rules += [tick.rule for each in tools for tick in (*(() if each.extra else (each.tick,)), *each.accounts)]
    extras = Tick(f"{name}.*", name, f"{name}.*" in reach.extras) if any(tool.extra for tool in info.entries) else None
    return ModuleBranch(own, info.summary, effects, branches, tools, extras, " ".join(rules))


def _build_tool(tool: ToolInfo, reach: Reach, accounts: Sequence[str]) -> ToolBranch:
    path = f"{tool.module}.{tool.name}"
    wider = replace(reach, mask=reach.mask - {path})
    ticked = path in reach.extras if tool.extra else path not in reach.mask
    if tool.extra and reach.extras & {"*", f"{tool.module}.*"}:
        ticked = True
    cells = [_tick(f"{tool.module}@{each}.{tool.name}", each, reach) for each in accounts]
    hidden_by = find_rule(tool, wider, None) or ""
    return ToolBranch(Tick(path, tool.name, ticked), tool.title, tool.effect, tool.extra, hidden_by, cells)


def _list_effects(scope: str, reach: Reach) -> list[Tick]:
    return [_tick(f"{scope}:{effect}", effect, reach) for effect in _EFFECTS]


def _tick(rule: str, name: str, reach: Reach) -> Tick:
    return Tick(rule, name, rule not in reach.mask)


def _write_rule(rule: MaskPattern) -> str:
    """One way to write each rule: `jira.*` is `jira`."""
    account = f"@{rule.account}" if rule.account else ""
    rest = f".{rule.tool}" if rule.tool else f":{rule.effect}" if rule.effect else ""
    return f"{rule.module}{account}{rest}"


def _freeze(names: Collection[str] | None) -> frozenset[str] | None:
    return None if names is None else frozenset(names)
