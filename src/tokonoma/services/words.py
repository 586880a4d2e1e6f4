"""The words of a service about what went wrong, without anything secret."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

MAX_WORDS = 500
"""Characters."""


def find_words(value: Any, paths: Sequence[str], secrets: Iterable[str]) -> str:
    """The texts at these paths (`message`, `errors[].message`, `errors.*`), each once, in one line. Services repeat
    what they were sent: none of the `secrets` stays in it."""
    found = dict.fromkeys(text.strip() for path in paths for text in _walk(value, path) if text.strip())
    words = " ".join("".join(each if each.isprintable() else " " for each in "; ".join(found)).split())
    for secret in secrets:
        if secret:
            words = words.replace(secret, "[hidden]")
    return words if len(words) <= MAX_WORDS else f"{words[:MAX_WORDS]}…"


def _walk(value: Any, path: str) -> Iterator[str]:
    values = [value]
    for step in filter(None, path.replace("[]", ".[]").split(".")):
        values = [inner for each in values for inner in _list_members(each, step)]
    return (each for each in values if isinstance(each, str))


def _list_members(value: Any, step: str) -> list[Any]:
    if isinstance(value, list):
        return cast("list[Any]", value) if step == "[]" else []
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        return list(members.values()) if step == "*" else [members[step]] if step in members else []
    return []
