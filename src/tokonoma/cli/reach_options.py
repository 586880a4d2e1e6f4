"""The options that say what a credential may use: the same for keys, people, clients and profiles."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import click

from tokonoma.app import App
from tokonoma.auth.api_keys import build_reach
from tokonoma.auth.profiles import find_profile
from tokonoma.catalogue import SERVICES_FILE, read_catalogue
from tokonoma.cli.modules import choose_module
from tokonoma.cli.output import print_table
from tokonoma.core.call import OWNER
from tokonoma.core.errors import Invalid, Missing, find_nearest
from tokonoma.core.module import ModuleInfo
from tokonoma.core.reach import Reach, parse_mask

C = TypeVar("C", bound=Callable[..., Any])

SYNC_TOOLS = frozenset({"system.sync_read", "system.sync_write"})
"""Extra tools that see everything: `keys create --sync` alone names them."""

REACH_FIELDS = ("root", "default", "modules", "mask")

_NAME = re.compile(r"[\w.@-][\w.@ -]{0,63}")
_NEW = {
    "--root": "Namespace that it cannot leave. Default: /",
    "--default": "Namespace in which it starts. Default: its root.",
    "--modules": "Modules that it can use, separated by commas. Default: all.",
    "--mask": "What is hidden from it, as in `items,memory.delete,vault:write,*:destroy`.",
    "--extras": "Tools that are hidden otherwise, as in `github.merge_pr,jira.*`.",
    "--profile": "Begin with the profile of this name; the other options change that.",
}
_CHANGED = {
    "--root": "Namespace that it cannot leave.",
    "--default": "Namespace in which it starts.",
    "--modules": "Modules that it can use, separated by commas, or `all`.",
    "--mask": "What is hidden from it, separated by commas; empty for nothing.",
    "--extras": "Tools that are hidden otherwise, separated by commas; empty for none.",
    "--profile": "Begin with the profile of this name, not with what it has; the other options change that.",
}


def new_reach_options(function: C) -> C:
    """Options of a command that creates something with a reach. They arrive as keywords for `parse_reach`."""
    return _add_options(function, _NEW)


def changed_reach_options(function: C) -> C:
    """Options of a command that changes the reach of something."""
    return _add_options(function, _CHANGED)


def _add_options(function: C, described: Mapping[str, str]) -> C:
    for flag, text in reversed(list(described.items())):
        name = "start" if flag == "--default" else flag.removeprefix("--")
        metavar = "NAME" if flag == "--profile" else None
        function = click.option(flag, name, metavar=metavar, help=text)(function)
    return function


def parse_reach(
    app: App,
    old: Reach,
    *,
    root: str | None,
    start: str | None,
    modules: str | None,
    mask: str | None,
    extras: str | None,
    profile: str | None = None,
) -> Reach:
    """Return the old reach, or that of the profile, with the options that were given."""
    if profile is not None:
        with app.database.reading() as rows:
            old = find_profile(rows, profile).reach
    allowed = None if old.modules is None else sorted(old.modules)
    if modules is not None:
        names = _split_names(modules)
        if not names:
            raise Invalid("--modules names no module. Omit it to allow all.", field="modules")
        allowed = None if names == ["all"] else [choose_module(list_all_modules(app), name).name for name in names]
    rules = old.mask if mask is None else _normalize_mask(app, _split_names(mask))
    named = old.extras if extras is None else {*(old.extras & SYNC_TOOLS), *_check_extras(app, _split_names(extras))}
    start = start or (old.default if root is None else None)
    root = old.root if root is None else root
    return build_reach(root, start, allowed, sorted(rules), sorted(named))


def check_name(name: str) -> None:
    """BadParameter for a name that lists and journals could not show well."""
    if not _NAME.fullmatch(name):
        raise click.BadParameter("Use at most 64 letters, digits, `.`, `@`, `-`, `_` and spaces.", param_hint="NAME")


def print_reaches(responses: Sequence[Mapping[str, Any]], before: Sequence[str], after: Sequence[str] = ()) -> None:
    """Print a table of what has a reach. Few have extras: the column is there if one does."""
    extras = ["extras"] if any("extras" in each for each in responses) else []
    names = [*before, *REACH_FIELDS, *extras, *after]
    headings = [name.removesuffix("_at").upper() for name in names]
    print_table(headings, [[format_cell(each.get(name, [])) for name in names] for each in responses])


def format_cell(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value)) or "-"  # pyright: ignore[reportUnknownArgumentType]
    return "never" if value is None else str(value)


def _split_names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _check_extras(app: App, names: Sequence[str]) -> list[str]:
    """Names of extra tools, or `module.*`."""
    tools = [tool for info in list_all_modules(app).values() for tool in info.entries if tool.extra]
    allowed = {name for tool in tools if tool.path not in SYNC_TOOLS for name in (tool.path, f"{tool.module}.*")}
    for name in names:
        if name not in allowed:
            nearest = find_nearest(name, allowed)
            hint = f"Did you mean {nearest[0]!r}?" if nearest else "`tokonoma schema MODULE` shows those of a module."
            raise Missing(f"There is no extra tool called {name!r}. {hint}", reason="tool", nearest=nearest)
    return list(names)


def _normalize_mask(app: App, texts: Sequence[str]) -> list[str]:
    """Masks as they are stored; a misspelt one, which would hide nothing, is refused."""
    masks: list[str] = []
    for text in texts:
        rule = parse_mask(text)
        if rule.module != "*":
            info = choose_module(list_all_modules(app), rule.module)
            if rule.tool is not None and all(tool.name != rule.tool for tool in info.entries):
                text = text.removesuffix(rule.tool) + app.registry.find_tool(rule.module, rule.tool, OWNER).name
        masks.append(text)
    return masks


def list_all_modules(app: App) -> dict[str, ModuleInfo]:
    """All that a reach may be about: with their extra tools, and services without an account that serves the owner."""
    principal = replace(OWNER, reach=Reach(extras=frozenset({"*"})))
    known = [*read_catalogue(SERVICES_FILE), *app.registry.visible_modules(principal)]
    return {info.name: info for info in known}
