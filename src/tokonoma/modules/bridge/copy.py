"""bridge_copy_section and bridge_copy_file: what an address leads to becomes a file of the vault, or a part of one."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk, Record
from tokonoma.core.errors import Denied, Invalid
from tokonoma.core.namespaces import inside
from tokonoma.core.opaque import Plain
from tokonoma.core.paths import file_parts, joined
from tokonoma.files.atomic import exists
from tokonoma.files.folder import MOST, Content, missing, opened_root
from tokonoma.files.rules import check_write, settled
from tokonoma.files.text import address, decoded, encoded, space_of
from tokonoma.files.write import Changed, change

Mode = Annotated[Literal["create", "overwrite", "append"], Field(description="overwrite, append: the file is there")]
ToPath = Annotated[str, Field(description="relative to the vault, like artifacts/summary.md")]
Trace = Annotated[str | None, Field(max_length=100, description="of the search that led here")]


class CopyRef(TypedDict):
    """A section (manual_id, path, start_line), lines of the vault (target: vault), or any record (address)."""

    target: NotRequired[Literal["manual", "vault"]]
    manual_id: NotRequired[str]
    path: NotRequired[str]
    start_line: NotRequired[Annotated[int, Field(ge=1)]]
    end_line: NotRequired[Annotated[int, Field(ge=1)]]
    address: NotRequired[str]


class CopyLimits(TypedDict):
    max_chars: NotRequired[Annotated[int, Field(ge=1, le=MOST, description="refuse to copy more")]]


class Copied(TypedDict):
    path: str
    address: Plain
    mode: str
    version: Plain
    previous_version: NotRequired[Plain]
    source: Plain
    copied_chars: int
    copied_lines: int
    bytes: int
    lines: int


def copy_section(
    desk: Desk,
    from_ref: CopyRef,
    to_path: ToPath,
    mode: Mode = "create",
    limits: CopyLimits | None = None,
    trace_id: Trace = None,
) -> Copied:
    """Copy a manual's section, lines of a vault file, a memo, an item or a claim into the vault. The text is not shown:
    the answer says where it went and how much it was."""
    return _copied(desk, _source(from_ref), to_path, mode, limits, trace_id)


def copy_file(
    desk: Desk,
    manual_id: Annotated[str, Field(min_length=1, max_length=128)],
    from_path: Annotated[str, Field(description="relative to the manual")],
    to_path: ToPath,
    mode: Mode = "create",
    limits: CopyLimits | None = None,
    trace_id: Trace = None,
) -> Copied:
    """Copy a whole file of a manual into the vault, to be changed there. The text is not shown."""
    return _copied(desk, _manual(manual_id, from_path), to_path, mode, limits, trace_id)


def _source(ref: CopyRef) -> str:
    """The address that a ref means."""
    if "address" in ref:
        if len(ref) > 1:
            raise Invalid("from_ref: give an address alone, or target, manual_id, path and lines.", field="from_ref")
        return ref["address"]
    if "path" not in ref:
        raise Invalid("from_ref needs a path (and a manual_id), or an address.", field="from_ref")
    lines = f"#L{ref['start_line']}" if "start_line" in ref else ""
    if ref.get("target", "manual") == "vault":
        lines += f"-L{ref['end_line']}" if lines and "end_line" in ref else ""
        return address(joined(settled(file_parts(ref["path"], "from_ref")))) + lines
    if "manual_id" not in ref:
        raise Invalid("from_ref needs a manual_id; manual_list names them.", field="from_ref")
    return _manual(ref["manual_id"], ref["path"]) + lines


def _manual(manual_id: str, path: str) -> str:
    (name,) = file_parts(manual_id, "manual_id")[:1]
    if name != manual_id:
        raise Invalid("manual_id is the name of one folder of the manuals.", field="manual_id")
    return f"tokonoma://manual/{name}/{joined(file_parts(path, 'from_path'))}"


def _copied(
    desk: Desk, source: str, to_path: str, mode: Mode, limits: CopyLimits | None, trace_id: str | None
) -> Copied:
    parts = settled(file_parts(to_path, "to_path"))
    if not inside(space_of(parts), desk.principal.root):
        raise Denied(f"{joined(parts)} lies outside the folder that this key is for.", reason="scope")
    record = desk.read(source)
    if trace_id is not None:
        desk.used(record.address, trace_id)
    most = (limits or {}).get("max_chars", MOST)
    if len(record.text) > most:
        raise Invalid(
            f"{record.address} has {len(record.text)} characters, and limits.max_chars is {most}. Nothing was copied.",
            field="limits",
            limit=most,
        )
    data = encoded(record.text, "the source")
    with opened_root(desk.house.places()["vault"]) as folder:
        parts = folder.real(parts)
        check_write(parts, mode)

        def made(before: Content | None) -> bytes:
            if mode == "create":
                if before is not None:
                    raise exists(parts, parts[-1])
                return data
            if before is None:
                raise missing(parts)
            if mode == "overwrite":
                return data
            decoded(before.data, parts)
            joint = b"" if not before.data or before.data.endswith(b"\n") else b"\n"
            return before.data + joint + data

        done = change(desk, folder, parts, mode, made, label=record.label)
    return _told(record, done, mode)


def _told(record: Record, done: Changed, mode: str) -> Copied:
    told: Copied = {
        "path": done.path,
        "address": address(done.path),
        "mode": mode,
        "version": done.version,
        "source": record.address,
        "copied_chars": len(record.text),
        "copied_lines": record.text.count("\n") + (not record.text.endswith("\n")) if record.text else 0,
        "bytes": done.size,
        "lines": done.lines,
    }
    if done.before is not None:
        told["previous_version"] = done.before
    return told
