"""What the policy makes of an imported record: it is stored, redacted, sealed or refused, and the report says so.

The texts of an import are no arguments of a call, so the guard does not screen them.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from tokonoma.core.policy import DeskPolicy


@dataclass(frozen=True, slots=True)
class ScreenedImport:
    """`fields` is what may be stored; `refusal` why nothing may; `note` what the report says if it is stored. A sealed
    record gets the class secret."""

    fields: dict[str, Any]
    refusal: str = ""
    note: str = ""
    sealed: bool = False


def screen_import(policy: DeskPolicy, given: Mapping[str, Any], ids: Collection[str], *, seal: bool) -> ScreenedImport:
    """`ids` are fields that identify the record: they are not screened. With `seal`, what the policy refuses is stored
    where nobody reads it, instead of being refused."""
    # Most fields of most records are empty.
    screened = policy.screen_record({name: value for name, value in given.items() if value and name not in ids})
    fields = {**given, **screened.fields}
    if not screened.refused:
        note = f"Redacted, as the policy says: {', '.join(screened.redacted)}." if screened.redacted else ""
        return ScreenedImport(fields, note=note)
    found = f"{', '.join(screened.refused)} in {', '.join(screened.places)}"
    if seal:
        return ScreenedImport(fields, note=f"Sealed with the class secret, because of {found}.", sealed=True)
    why = f"The policy does not allow this to be stored: {found}. Remove it there, or use --seal."
    return ScreenedImport(fields, refusal=why)
