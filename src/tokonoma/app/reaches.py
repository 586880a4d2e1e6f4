"""What a credential may use, checked against the modules, tools and profiles that there are: for commands and pages."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tokonoma.auth.api_keys import build_reach
from tokonoma.auth.profiles import find_profile
from tokonoma.catalogue import SERVICES_FILE, read_catalogue
from tokonoma.core.call import OWNER
from tokonoma.core.errors import Invalid, Missing, find_nearest
from tokonoma.core.module import ModuleInfo
from tokonoma.core.reach import Reach, parse_mask

if TYPE_CHECKING:
    from tokonoma.app import App

SYNC_TOOLS = frozenset({"system.sync_read", "system.sync_write"})
"""Extra tools that see everything: `keys create --sync` alone names them."""

_NAME = re.compile(r"[\w.@-][\w.@ -]{0,63}")


def check_credential_name(name: str) -> str:
    """Invalid for a name that lists and journals could not show well."""
    if not _NAME.fullmatch(name):
        raise Invalid("Use at most 64 letters, digits, `.`, `@`, `-`, `_` and spaces.", field="name")
    return name


def parse_reach(
    app: "App",
    old: Reach,
    *,
    root: str | None,
    start: str | None,
    modules: str | None,
    mask: str | None,
    extras: str | None,
    profile: str | None = None,
) -> Reach:
    """Return the old reach, or that of the profile, with the options that were given, each a list with commas."""
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


def check_reach(
    app: "App",
    old: Reach,
    *,
    root: str,
    start: str,
    modules: Collection[str] | None,
    mask: Collection[str],
    extras: Collection[str],
) -> Reach:
    """A reach with these values. What the old one names may stay, also if it is about a module that is gone."""
    infos = list_all_modules(app)
    kept = old.modules or frozenset()
    allowed = (
        None if modules is None else [each if each in kept else choose_module(infos, each).name for each in modules]
    )
    rules = {*(old.mask & set(mask)), *_normalize_mask(app, sorted(set(mask) - old.mask))}
    same = old.extras & (SYNC_TOOLS | set(extras))
    named = {*same, *_check_extras(app, sorted(set(extras) - same))}
    return build_reach(root, start or None, allowed, sorted(rules), sorted(named))


def choose_module(infos: Mapping[str, ModuleInfo], name: str) -> ModuleInfo:
    """Missing, with the nearest names, if it is not among these."""
    if name not in infos:
        nearest = find_nearest(name, infos)
        hint = f"Did you mean {nearest[0]!r}?" if nearest else f"There are: {', '.join(infos)}."
        raise Missing(f"There is no module called {name!r}. {hint}", reason="module", nearest=nearest)
    return infos[name]


def list_all_modules(app: "App") -> dict[str, ModuleInfo]:
    """All that a reach may be about: with their extra tools, and services without an account that serves the owner."""
    principal = replace(OWNER, reach=Reach(extras=frozenset({"*"})))
    known = [*read_catalogue(SERVICES_FILE), *app.registry.visible_modules(principal)]
    return {info.name: info for info in known}


def _split_names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _check_extras(app: "App", names: Sequence[str]) -> list[str]:
    """Names of extra tools, or `module.*`."""
    tools = [tool for info in list_all_modules(app).values() for tool in info.entries if tool.extra]
    allowed = {name for tool in tools if tool.path not in SYNC_TOOLS for name in (tool.path, f"{tool.module}.*")}
    for name in names:
        if name not in allowed:
            nearest = find_nearest(name, allowed)
            hint = f"Did you mean {nearest[0]!r}?" if nearest else "`tokonoma schema MODULE` shows those of a module."
            raise Missing(f"There is no extra tool called {name!r}. {hint}", reason="tool", nearest=nearest)
    return list(names)


def _normalize_mask(app: "App", texts: Sequence[str]) -> list[str]:
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
