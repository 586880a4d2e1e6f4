"""Where a section is: `tokonoma://manual/<id>/<path>#L10` for the house, a ref for callers of these tools."""

import re
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from tokonoma.core.errors import Invalid
from tokonoma.core.paths import join_path, split_file_path
from tokonoma.modules.manual.tables import NAME

_LINE = re.compile(r"#L(\d{1,9})(?:-L?\d+)?\Z")
_ID = re.compile(r"[^/\\\x00]{1,128}\Z")


class ManualRef(TypedDict):
    target: NotRequired[Literal["manual"]]
    manual_id: str
    path: str
    start_line: NotRequired[int]
    json_path: NotRequired[str]


def section_address(manual: str, path: str, line: int | None = None) -> str:
    place = f"tokonoma://{NAME}/{manual}/{path}"
    return place if line is None else f"{place}#L{line}"


def parse_section_name(name: str) -> tuple[str, str, int | None]:
    """`<id>/<path>#L10` → manual, path, line."""
    found = _LINE.search(name)
    manual, _, path = (name[: found.start()] if found else name).partition("/")
    return manual, path, int(found[1]) if found else None


def build_ref(manual: str, path: str, line: int | None = None, json_path: str | None = None) -> ManualRef:
    ref: ManualRef = {"target": "manual", "manual_id": manual, "path": path}
    if line is not None:
        ref["start_line"] = line
    if json_path is not None:
        ref["json_path"] = json_path
    return ref


def require_manual_id(manual_id: str) -> str:
    """A manual's id is the name of its folder."""
    if not _ID.match(manual_id) or manual_id.startswith("."):
        raise Invalid("manual_id is the name of a folder of the manuals; manual_list names them.", field="manual_id")
    return manual_id


def parse_ref(ref: dict[str, Any] | ManualRef) -> tuple[str, str, int | None]:
    """manual, path and line of a ref that a caller gave."""
    given: dict[str, Any] = dict(ref)
    unknown = sorted(set(given) - {"target", "manual_id", "path", "start_line", "json_path"})
    if unknown:
        raise Invalid(
            f"A ref has target, manual_id, path, start_line and json_path; not {', '.join(unknown)}.", field="ref"
        )
    if given.get("target", "manual") != "manual":
        raise Invalid("This tool reads manuals: target must be manual.", reason="scope", field="ref")
    if not isinstance(given.get("manual_id"), str) or not isinstance(given.get("path"), str):
        raise Invalid("A ref needs manual_id and path, both as text. manual_ls lists them.", field="ref")
    line = given.get("start_line")
    if line is not None and (type(line) is not int or line < 1):
        raise Invalid("start_line counts from 1.", field="ref")
    return require_manual_id(given["manual_id"]), join_path(split_file_path(given["path"], "ref")), line
