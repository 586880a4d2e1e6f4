"""Profiles: reaches with a name. A key, a person or a client takes over what the profile holds at that moment; a later
change of the profile does not change them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tokonoma.auth.reaches import REACH_COLUMNS, from_columns, to_columns, to_response
from tokonoma.core.clock import format_time, now
from tokonoma.core.desk import Row, Rows, Statements
from tokonoma.core.errors import Missing, find_nearest
from tokonoma.core.reach import Reach

_COLUMNS = f"name, {REACH_COLUMNS}, created_at"
_LIST = f"select {_COLUMNS} from profile order by name"  # noqa: S608 - our own names
_SAVE = f"""insert into profile ({_COLUMNS}) values (:name, :root, :start, :modules, :mask, :extras, :created_at)
on conflict (name) do update set root = excluded.root, start = excluded.start, modules = excluded.modules,
mask = excluded.mask, extras = excluded.extras"""  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class StoredProfile:
    name: str
    reach: Reach
    created_at: int

    def to_response(self) -> dict[str, Any]:
        return {"name": self.name, **to_response(self.reach), "created_at": format_time(self.created_at)}


def list_profiles(rows: Rows) -> list[StoredProfile]:
    return [_to_profile(row) for row in rows.rows(_LIST)]


def find_profile(rows: Rows, name: str) -> StoredProfile:
    """Missing, with the nearest names, if there is none."""
    profiles = {each.name: each for each in list_profiles(rows)}
    if name not in profiles:
        raise _unknown_profile(name, list(profiles))
    return profiles[name]


def save_profile(statements: Statements, name: str, reach: Reach) -> None:
    """Store it, in the place of the one that has this name."""
    statements.run(_SAVE, name=name, created_at=now(), **to_columns(reach))


def remove_profile(statements: Statements, name: str) -> None:
    if not statements.run("delete from profile where name = :name", name=name):
        raise _unknown_profile(name, [each.name for each in list_profiles(statements)])


def _unknown_profile(name: str, known: Sequence[str]) -> Missing:
    nearest = find_nearest(name, known)
    hint = f"Did you mean {nearest[0]!r}?" if nearest else f"There are: {', '.join(known) or 'none'}."
    return Missing(f"There is no profile called {name!r}. {hint}", reason="profile", nearest=nearest)


def _to_profile(row: Row) -> StoredProfile:
    name, *reach, created_at = row
    return StoredProfile(name, from_columns(reach), created_at)
