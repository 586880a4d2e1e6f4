"""bridge_copy_section and bridge_copy_file: what an address leads to becomes a file of the vault, or a part of one."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.errors import Denied, Invalid
from tokonoma.core.ids import Opaque
from tokonoma.core.namespaces import is_inside
from tokonoma.core.paths import join_path, split_file_path
from tokonoma.files.folder import MAX_FILE_BYTES, open_root
from tokonoma.files.rules import canonicalize_path
from tokonoma.files.text import encode_text, file_address, namespace_of
from tokonoma.files.write import write_content

Mode = Annotated[Literal["create", "overwrite", "append"], Field(description="overwrite, append: the file must exist")]
ToPath = Annotated[str, Field(description="relative to the vault, such as artifacts/summary.md")]
Trace = Annotated[str | None, Field(max_length=100, description="trace_id of the search that found the source")]


class CopyRef(TypedDict):
    """A section (manual_id, path, start_line), lines of the vault (target: vault), or any record (address)."""

    target: NotRequired[Literal["manual", "vault"]]
    manual_id: NotRequired[str]
    path: NotRequired[str]
    start_line: NotRequired[Annotated[int, Field(ge=1)]]
    end_line: NotRequired[Annotated[int, Field(ge=1)]]
    address: NotRequired[str]


class CopyLimits(TypedDict):
    max_chars: NotRequired[Annotated[int, Field(ge=1, le=MAX_FILE_BYTES, description="fails if the source is longer")]]


class CopyResponse(TypedDict):
    path: str
    address: Opaque
    mode: str
    version: Opaque
    previous_version: NotRequired[Opaque]
    source: Opaque
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
) -> CopyResponse:
    """Copy a manual's section, lines of a vault file, a memo, an item or a claim into the vault. The text is not
    returned, only its new path and its size."""
    return _copy(desk, _source_address(from_ref), to_path, mode, limits, trace_id)


def copy_file(
    desk: Desk,
    manual_id: Annotated[str, Field(min_length=1, max_length=128)],
    from_path: Annotated[str, Field(description="relative to the manual")],
    to_path: ToPath,
    mode: Mode = "create",
    limits: CopyLimits | None = None,
    trace_id: Trace = None,
) -> CopyResponse:
    """Copy a whole file of a manual into the vault, to be edited there. The text is not returned."""
    return _copy(desk, _manual_address(manual_id, from_path), to_path, mode, limits, trace_id)


def _source_address(ref: CopyRef) -> str:
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
        return file_address(join_path(canonicalize_path(split_file_path(ref["path"], "from_ref")))) + lines
    if "manual_id" not in ref:
        raise Invalid("from_ref needs a manual_id; manual_list returns them.", field="from_ref")
    return _manual_address(ref["manual_id"], ref["path"]) + lines


def _manual_address(manual_id: str, path: str) -> str:
    (name,) = split_file_path(manual_id, "manual_id")[:1]
    if name != manual_id:
        raise Invalid("manual_id must be the name of one folder of the manuals.", field="manual_id")
    return f"tokonoma://manual/{name}/{join_path(split_file_path(path, 'from_path'))}"


def _copy(
    desk: Desk, source: str, to_path: str, mode: Mode, limits: CopyLimits | None, trace_id: str | None
) -> CopyResponse:
    parts = canonicalize_path(split_file_path(to_path, "to_path"))
    if not is_inside(namespace_of(parts), desk.principal.root):
        raise Denied(f"{join_path(parts)} is outside the folder of this key.", reason="scope")
    record = desk.read(source)
    if trace_id is not None:
        desk.mark_used(record.address, trace_id)
    most = (limits or {}).get("max_chars", MAX_FILE_BYTES)
    if len(record.text) > most:
        raise Invalid(
            f"{record.address} has {len(record.text)} characters; limits.max_chars is {most}. Nothing was copied.",
            field="limits",
            limit=most,
        )
    data = encode_text(record.text, "the source")
    with open_root(desk.server.locations()["vault"]) as folder:
        parts = folder.resolve_names(parts)
        change = write_content(desk, folder, parts, mode, data, classification=record.classification)
    response: CopyResponse = {
        "path": change.path,
        "address": file_address(change.path),
        "mode": mode,
        "version": change.version,
        "source": record.address,
        "copied_chars": len(record.text),
        "copied_lines": record.text.count("\n") + (not record.text.endswith("\n")) if record.text else 0,
        "bytes": change.size,
        "lines": change.lines,
    }
    if change.previous_version is not None:
        response["previous_version"] = change.previous_version
    return response
