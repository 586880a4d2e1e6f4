"""Which fields of an answer are returned, and how services are told that can leave the others out themselves."""

import re
from collections.abc import Sequence
from typing import Any

from tokonoma.connectors.model import Draft, FieldChoice, ServiceTool
from tokonoma.core.errors import Invalid
from tokonoma.core.field_paths import FieldTree, InvalidPath, build_tree, parse_field_path, project

ALL = "*"
_PLAIN = re.compile(r"\w+")


def choose_fields(tool: ServiceTool, given: Sequence[str] | None) -> FieldChoice:
    """The default fields, or those that are given. `+path` adds to what would be returned without it."""
    defaults = tuple(tool.fields.split())
    listed = tuple(dict.fromkeys(given or ()))
    asked = tuple(dict.fromkeys(each.removeprefix("+") for each in listed))
    for path in asked:
        try:
            _ = path == ALL or parse_field_path(path)
        except InvalidPath as error:
            raise Invalid(f"fields: {error}", field="fields") from None
    base = () if any(not each.startswith("+") for each in listed) else defaults
    if tool.render is not None:  # a part of a value that would be shown in another form is returned as it is
        base = tuple(each for each in base if not any(path.startswith(f"{each}.") for path in asked))
    paths = tuple(dict.fromkeys((*base, *asked)))
    return FieldChoice(None if ALL in paths else paths, asked)


def project_fields(value: Any, choice: FieldChoice) -> tuple[Any, list[str]]:
    """The value with these fields, and those that were asked for and are not there."""
    if choice.paths is None:
        return value, []
    chosen, missing = project(value, choice.paths)
    return chosen, [path for path in missing if path in choice.asked]


def split_paths(choice: FieldChoice) -> list[tuple[str, ...]]:
    return [parse_field_path(path) for path in choice.paths or ()]


def push_google(tool: ServiceTool, draft: Draft, choice: FieldChoice) -> None:
    """Google's partial answers: `items(id,organizer(email)),nextPageToken`."""
    paths = split_paths(choice)
    if not paths or not all(_PLAIN.fullmatch(key) for path in paths for key in path):
        return
    written = _format_tree(build_tree(paths))
    if tool.is_list and tool.page is not None:
        written = ",".join([f"{tool.rows}({written})", tool.page.next, *tool.page.keeps.values()])
    draft.query.append(("fields", written))


def _format_tree(tree: FieldTree) -> str:
    return ",".join(f"{key}({_format_tree(inner)})" if inner else key for key, inner in tree.items())


_NAVIGATION = frozenset({"checklistItems", "linkedResources", "attachments", "extensions"})


def push_graph(tool: ServiceTool, draft: Draft, choice: FieldChoice) -> None:
    """Microsoft Graph's `$select` names properties of the first level, and nothing that `$expand` adds."""
    names = list(dict.fromkeys(path[0] for path in split_paths(choice)))
    chosen = [name for name in names if _PLAIN.fullmatch(name) and name not in _NAVIGATION]
    if chosen:
        draft.query.append(("$select", ",".join(chosen)))
