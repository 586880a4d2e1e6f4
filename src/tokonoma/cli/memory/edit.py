"""`memory edit`: a memo in the editor, its fields above and its text below."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from tokonoma.app import App
from tokonoma.cli.call import call_tool, read_text
from tokonoma.cli.command import command, pass_app
from tokonoma.cli.interrupt import report_interrupt
from tokonoma.cli.memory.lookup import ID_METAVAR, MODULE_NAME, JsonObject, find_memo_id, read_memo
from tokonoma.cli.output import print_note
from tokonoma.core.errors import Invalid, Refusal
from tokonoma.transfer.markdown_file import FrontMatterError, format_front_matter, read_front_matter

_REMOVABLE = ("expires_at", "date", "valid_from", "valid_until")
_TEXTS = ("title", "thread", *_REMOVABLE)
_FIELDS = (*_TEXTS, "metadata")


@command("edit", "database_url")
@click.argument("name", metavar=ID_METAVAR)
@click.option("--from", "draft", metavar="FILE", help="Begin with this text, such as one that was kept.")
@pass_app
def edit_memo(app: App, name: str, draft: str | None) -> None:
    """Edit a memo in $VISUAL or $EDITOR: its fields above, its text below.

    If the memo cannot be saved, or was changed meanwhile, your text is kept in a file.
    """
    memo = read_memo(app, find_memo_id(app, name))
    form = format_form(memo)
    file = _create_file(read_text(draft) if draft else form)
    kept = f"Your text is kept in {file}."
    with report_interrupt(lambda: kept):
        try:
            changes = _ask_for_changes(memo, form, file)
            params = {"memo_id": memo["memo_id"], **changes, "expected_version": memo["version"]}
            saved = call_tool(app, MODULE_NAME, "save", **params) if changes else memo
        except (Refusal, click.ClickException) as error:
            if file.read_bytes() == form.encode():
                file.unlink()
                raise
            again = f"`tokonoma memory edit {memo['memo_id']} --from {file}` goes on with it."
            raise Invalid(f"{error.message} {kept} {again}") from None
    file.unlink()
    if not changes:
        print_note("Nothing was changed.")
        return
    names = [each for each in changes if each != "metadata_mode"]
    print_note(f"{memo['memo_id']} is at version {saved['version']}: changed {', '.join(names)}.")


def _create_file(text: str) -> Path:
    """A file that only this user can read."""
    handle, name = tempfile.mkstemp(prefix="tokonoma-", suffix=".md")
    with os.fdopen(handle, "wb") as file:
        file.write(text.encode())
    return Path(name)


def _ask_for_changes(memo: Mapping[str, Any], form: str, file: Path) -> JsonObject:
    click.edit(filename=str(file))
    try:
        text = file.read_bytes().decode()  # as it is: reading text would change line ends
    except UnicodeDecodeError:
        raise Invalid("The edited text is not UTF-8. Nothing was changed.") from None
    # An empty file means: do nothing, as in other programs that ask for a text.
    return find_changes(memo, text) if text != form and text.strip() else {}


def format_form(memo: Mapping[str, Any]) -> str:
    """The text to edit: fields as front matter, the content below."""
    fields: JsonObject = {name: memo.get(name, "") for name in _TEXTS}
    return format_front_matter({**fields, "metadata": memo["metadata"]}) + memo["content"] + "\n"


def find_changes(memo: Mapping[str, Any], text: str) -> JsonObject:
    """The parameters of `save` for what differs from the memo."""
    try:
        fields, body = read_front_matter(text)
    except FrontMatterError as error:
        raise Invalid(f"The fields cannot be read: {error}") from None
    if fields is None:
        raise Invalid("The fields between the two lines of --- are missing.")
    unknown = sorted(fields.keys() - set(_FIELDS))
    if unknown:
        raise Invalid(f"There is no field {unknown[0]!r}; there are: {', '.join(_FIELDS)}.")
    content = body.removesuffix("\n")
    if not content.strip():
        raise Invalid("The text is empty. `tokonoma memory delete` moves a memo to the trash.")
    new: JsonObject = {name: _require_text(name, fields.get(name)) for name in _TEXTS} | {"content": content}
    changes = {name: value for name, value in new.items() if value != memo.get(name, "")}
    changes |= {name: "never" for name in _REMOVABLE if changes.get(name) == ""}
    metadata: Any = fields.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise Invalid("metadata is not a list of keys and values.")
    if metadata != memo["metadata"]:
        changes |= {"metadata": metadata, "metadata_mode": "replace"}
    return changes


def _require_text(name: str, value: Any) -> str:
    if isinstance(value, dict | list | bool):
        raise Invalid(f"{name} is not a text.")
    return "" if value is None else str(value)
