"""Editing an item in an editor: fields as front matter, content below, and only what was changed is sent."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from tokonoma.app import App
from tokonoma.cli import show
from tokonoma.cli.items.asking import asked
from tokonoma.core.errors import Invalid, Refusal
from tokonoma.transfer import front

_FIELDS = ("title", "description", "status", "priority", "category", "start_date", "end_date", "version")
_LISTS = ("tags", "related")


def edited(app: App, where: Mapping[str, Any]) -> None:
    item = asked(app, "get_item_detail", **where)
    text = click.edit(form(item), extension=".md", require_save=True)
    try:
        changes = changed(item, text) if text is not None else {}
        if not changes:
            show.note("Nothing was changed.")
            return
        told = asked(app, "update_item", **where, **changes, expected_revision=item["revision"])
    except Refusal as error:
        raise Invalid(f"{error.message} Your text is kept in {_kept(text or '')}.") from None
    show.note(f"{told['address']} is at revision {told['revision']}: changed {', '.join(changes)}.")


def form(item: Mapping[str, Any]) -> str:
    """What the editor shows."""
    fields = {name: item[name] or "" for name in _FIELDS} | {name: item[name] for name in _LISTS}
    return front.written(fields) + item["content"] + "\n"


def changed(item: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The fields that differ; Invalid says what cannot be read."""
    text = text.replace("\r\n", "\n") if text.startswith("---\r\n") else text
    block, body = front.split(text)
    if block is None:
        raise Invalid("The fields between the two lines of --- are gone.")
    try:
        about = front.read(block)
    except front.BadFront as error:
        raise Invalid(f"The fields cannot be read: {error}") from None
    unknown = sorted(about.keys() - {*_FIELDS, *_LISTS})
    if unknown:
        raise Invalid(f"There is no field {unknown[0]!r}; there are: {', '.join((*_FIELDS, *_LISTS))}.")
    new: dict[str, Any] = {name: _text(name, about.get(name)) for name in _FIELDS}
    new |= {name: _list(name, about.get(name)) for name in _LISTS}
    new["content"] = body.removesuffix("\n")
    return {name: value for name, value in new.items() if value != (item[name] or ([] if name in _LISTS else ""))}


def _text(name: str, value: Any) -> str:
    if isinstance(value, dict | list | bool):
        raise Invalid(f"{name} is not a text.")
    return "" if value is None else str(value)


def _list(name: str, value: Any) -> list[str]:
    if value is None or value == "":
        return []
    if not isinstance(value, list):
        raise Invalid(f"{name} is not a list.")
    return [str(each) for each in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _kept(text: str) -> Path:
    handle, name = tempfile.mkstemp(prefix="tokonoma-", suffix=".md")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    return Path(name)
