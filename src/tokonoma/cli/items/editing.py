"""Editing an item in an editor: fields as front matter, content below, and only what was changed is sent."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from tokonoma.app import App
from tokonoma.cli import show
from tokonoma.cli.items.asking import call_items_tool
from tokonoma.core.errors import Invalid, Refusal
from tokonoma.transfer import front

_FIELDS = ("title", "description", "status", "priority", "category", "start_date", "end_date", "version")
_LISTS = ("tags", "related")


def edit_in_editor(app: App, where: Mapping[str, Any]) -> None:
    item = call_items_tool(app, "get_item_detail", **where)
    text = click.edit(format_for_editor(item), extension=".md", require_save=True)
    try:
        changes = find_changes(item, text) if text is not None else {}
        if not changes:
            show.print_note("Nothing was changed.")
            return
        told = call_items_tool(app, "update_item", **where, **changes, expected_revision=item["revision"])
    except Refusal as error:
        raise Invalid(f"{error.message} Your text is kept in {_save_draft(text or '')}.") from None
    show.print_note(f"{told['address']} is at revision {told['revision']}: changed {', '.join(changes)}.")


def format_for_editor(item: Mapping[str, Any]) -> str:
    """What the editor shows."""
    fields = {name: item[name] or "" for name in _FIELDS} | {name: item[name] for name in _LISTS}
    return front.format_front_matter(fields) + item["content"] + "\n"


def find_changes(item: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The fields that differ; Invalid says what cannot be read."""
    text = text.replace("\r\n", "\n") if text.startswith("---\r\n") else text
    block, body = front.split_front_matter(text)
    if block is None:
        raise Invalid("The fields between the two lines of --- are gone.")
    try:
        about = front.parse_front_matter(block)
    except front.FrontMatterError as error:
        raise Invalid(f"The fields cannot be read: {error}") from None
    unknown = sorted(about.keys() - {*_FIELDS, *_LISTS})
    if unknown:
        raise Invalid(f"There is no field {unknown[0]!r}; there are: {', '.join((*_FIELDS, *_LISTS))}.")
    new: dict[str, Any] = {name: _require_text(name, about.get(name)) for name in _FIELDS}
    new |= {name: _require_list(name, about.get(name)) for name in _LISTS}
    new["content"] = body.removesuffix("\n")
    return {name: value for name, value in new.items() if value != (item[name] or ([] if name in _LISTS else ""))}


def _require_text(name: str, value: Any) -> str:
    if isinstance(value, dict | list | bool):
        raise Invalid(f"{name} is not a text.")
    return "" if value is None else str(value)


def _require_list(name: str, value: Any) -> list[str]:
    if value is None or value == "":
        return []
    if not isinstance(value, list):
        raise Invalid(f"{name} is not a list.")
    return [str(each) for each in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _save_draft(text: str) -> Path:
    handle, name = tempfile.mkstemp(prefix="tokonoma-", suffix=".md")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    return Path(name)
