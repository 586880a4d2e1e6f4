"""What two reaches have in common, and a reach as columns of a table: the same five wherever one is stored."""

import json
from collections.abc import Sequence
from typing import Any

from tokonoma.core.namespaces import is_inside
from tokonoma.core.reach import Reach, names_extra

REACH_COLUMNS = "root, start, modules, mask, extras"


def to_columns(reach: Reach) -> dict[str, str | None]:
    """The values by the names of their columns."""
    return {
        "root": reach.root,
        "start": reach.default,
        "modules": None if reach.modules is None else json.dumps(sorted(reach.modules)),
        "mask": json.dumps(sorted(reach.mask)),
        "extras": json.dumps(sorted(reach.extras)),
    }


def from_columns(values: Sequence[Any]) -> Reach:
    """The reach of the values of `REACH_COLUMNS`, in that order."""
    root, start, modules, mask, extras = values
    seen = None if modules is None else frozenset(json.loads(modules))
    return Reach(root, start, seen, frozenset(json.loads(mask)), frozenset(json.loads(extras)))


def to_response(reach: Reach) -> dict[str, Any]:
    """The reach as command line and pages show it."""
    return {
        "root": reach.root,
        "default": reach.default,
        "modules": "all" if reach.modules is None else sorted(reach.modules),
        "mask": sorted(reach.mask),
        **({"extras": sorted(reach.extras)} if reach.extras else {}),
    }


def intersect(one: Reach, other: Reach) -> Reach | None:
    """What both may use; None if their namespaces have nothing in common. The default is that of the first, if it may
    still be used."""
    root, wider = (one.root, other.root) if is_inside(one.root, other.root) else (other.root, one.root)
    if not is_inside(root, wider):
        return None
    default = next((each for each in (one.default, other.default) if is_inside(each, root)), root)
    modules = other.modules if one.modules is None else one.modules
    if one.modules is not None and other.modules is not None:
        modules = one.modules & other.modules
    extras = {each for each in one.extras if names_extra(other.extras, each)}
    extras |= {each for each in other.extras if names_extra(one.extras, each)}
    accounts_from = _find_accounts_from(one, other, root)
    return Reach(root, default, modules, one.mask | other.mask, frozenset(extras), accounts_from)


def find_excess(reach: Reach, limit: Reach) -> str:
    """What a reach names and the limit does not allow, in words; empty if there is nothing. Its mask may be shorter:
    what is hidden by the limit stays hidden."""
    if not is_inside(reach.root, limit.root):
        return f"the namespace {reach.root}"
    named = reach.modules or frozenset()
    modules = [] if limit.modules is None else sorted(named - limit.modules)
    if modules:
        return f"the modules {', '.join(modules)}"
    extras = sorted(each for each in reach.extras if not names_extra(limit.extras, each))
    return f"the extra tools {', '.join(extras)}" if extras else ""


def _find_accounts_from(one: Reach, other: Reach, root: str) -> str:
    """The accounts that serve both serve the widest of their namespaces, all of which lie on one path."""
    widest = min((each.accounts_from or each.root for each in (one, other)), key=len)
    return "" if widest == root else widest
