"""bridge_copy_section and bridge_copy_file: what an address leads to becomes a file of the vault, or a part of one."""

import unicodedata
from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple, NotRequired
from urllib.parse import quote

from pydantic import Field
from typing_extensions import TypedDict

from tokonoma.core.desk import CLASSIFICATIONS, Classification, Desk, Record, parse_address
from tokonoma.core.errors import Conflict, Denied, Invalid, Missing
from tokonoma.core.ids import Opaque
from tokonoma.core.namespaces import is_inside
from tokonoma.core.paths import PathParts, join_path, split_file_path
from tokonoma.files.folder import MAX_FILE_BYTES, open_root
from tokonoma.files.rules import canonicalize_path
from tokonoma.files.text import encode_text, file_address, namespace_of, version_of
from tokonoma.files.write import FileChange, write_content

Mode = Annotated[Literal["create", "overwrite", "append"], Field(description="overwrite, append: the file must exist")]
ToPath = Annotated[str, Field(description="relative to the vault, such as artifacts/summary.md")]
Trace = Annotated[str | None, Field(max_length=100, description="trace_id of the search that found the source")]
_MAX_REFS = 200
_VERSION = Field(min_length=8, max_length=64, description="of a vault file: fails if it has changed")
_HASH = Field(pattern=r"^[0-9a-f]{8}(\+[0-9]{1,9})?$", description="of its section: fails if that has changed")


class CopyRef(TypedDict):
    """A section (manual_id, path, start_line), lines (with end_line), a value of a JSON file (json_path), lines of the
    vault (target: vault), or any record (address)."""

    target: NotRequired[Literal["manual", "vault"]]
    manual_id: NotRequired[str]
    path: NotRequired[str]
    start_line: NotRequired[Annotated[int, Field(ge=1)]]
    end_line: NotRequired[Annotated[int, Field(ge=1)]]
    json_path: NotRequired[Annotated[str, Field(description="in a manual: JSON Pointer, such as /items/3")]]
    hash: NotRequired[Annotated[str, _HASH]]
    version: NotRequired[Annotated[str, _VERSION]]
    address: NotRequired[str]


class CopyLimits(TypedDict):
    max_chars: NotRequired[Annotated[int, Field(ge=1, le=MAX_FILE_BYTES, description="fails if the source is longer")]]


class CopyResponse(TypedDict):
    path: str
    address: Opaque
    mode: str
    version: Opaque
    previous_version: NotRequired[Opaque]
    source: NotRequired[Opaque]
    sources: NotRequired[Annotated[list[Opaque], Field(description="of from_refs")]]
    copied_chars: int
    copied_lines: int
    bytes: int
    lines: int


class CopySource(NamedTuple):
    address: str
    file: str = ""  # the address without lines, if only some are wanted
    lines: tuple[int, int] | None = None
    version: str = ""  # of a file in the vault, if it must be the one that was searched


def copy_section(
    desk: Desk,
    to_path: ToPath,
    from_ref: CopyRef | None = None,
    from_refs: Annotated[
        list[CopyRef] | None, Field(min_length=1, max_length=_MAX_REFS, description="in order")
    ] = None,
    separator: Annotated[str, Field(max_length=1000, description="between the parts of from_refs")] = "\n",
    mode: Mode = "create",
    limits: CopyLimits | None = None,
    trace_id: Trace = None,
) -> CopyResponse:
    """Copy a manual's section, lines, a value of a JSON file, a memo, an item or a claim into the vault; several with
    from_refs. The text is not returned, only its new path and its size."""
    if (from_ref is None) == (from_refs is None):
        raise Invalid("Give either from_ref or from_refs.", field="from_ref")
    if from_ref is not None:
        return _copy(desk, [_find_source(from_ref, "from_ref")], "", to_path, mode, limits, trace_id)
    sources = [_find_source(ref, f"from_refs[{index}]") for index, ref in enumerate(from_refs or ())]
    response = _copy(desk, sources, separator, to_path, mode, limits, trace_id)
    response.pop("source", None)
    return {**response, "sources": [source.address for source in sources]}


def copy_file(
    desk: Desk,
    manual_id: Annotated[str, Field(min_length=1, max_length=255)],
    from_path: Annotated[str, Field(description="relative to the manual")],
    to_path: ToPath,
    mode: Mode = "create",
    limits: CopyLimits | None = None,
    trace_id: Trace = None,
) -> CopyResponse:
    """Copy a whole file of a manual into the vault, to be edited there. The text is not returned."""
    source = CopySource(_manual_address(manual_id, from_path))
    return _copy(desk, [source], "", to_path, mode, limits, trace_id)


def _find_source(ref: CopyRef, field: str) -> CopySource:
    """What a ref means."""
    if "address" in ref:
        if len(ref) > 1:
            raise Invalid(f"{field}: give an address alone, or target, manual_id, path and lines.", field=field)
        return CopySource(ref["address"])
    if "path" not in ref:
        raise Invalid(f"{field} needs a path (and a manual_id), or an address.", field=field)
    is_vault = ref.get("target", "manual") == "vault"
    if is_vault:
        if "json_path" in ref or "hash" in ref:
            raise Invalid(f"{field}: json_path and hash are for manuals.", field=field)
        file = file_address(join_path(canonicalize_path(split_file_path(ref["path"], field))))
    elif "manual_id" not in ref:
        raise Invalid(f"{field} needs a manual_id; manual_list returns them.", field=field)
    else:
        file = _manual_address(ref["manual_id"], ref["path"])
    if "version" in ref and not is_vault:
        raise Invalid(f"{field}: version is for files of the vault.", field=field)
    hash, version = f"@{ref['hash']}" if "hash" in ref else "", ref.get("version", "")
    if ref.get("json_path") and "end_line" not in ref:
        return CopySource(f"{file}#{quote(ref.get('json_path', ''), safe='/~')}{hash}")
    if "start_line" not in ref:
        if "end_line" in ref or hash:
            raise Invalid(f"{field}: end_line and hash need a start_line.", field=field)
        return CopySource(file, file, version=version)
    first = ref["start_line"]
    if "end_line" not in ref:
        return CopySource(f"{file}#L{first}{hash}", file, (first, first) if is_vault else None, version)
    last = ref["end_line"]
    if last < first:
        raise Invalid(f"{field}: start_line {first} is after end_line {last}.", field=field)
    return CopySource(f"{file}#L{first}-L{last}{hash}", file, (first, last), version)


def _manual_address(manual_id: str, path: str) -> str:
    name = join_path(split_file_path(manual_id, "manual_id", reading=True))
    if name != unicodedata.normalize("NFC", manual_id) or "/" in name:
        raise Invalid("manual_id must be the name of one folder of the manuals.", field="manual_id")
    return f"tokonoma://manual/{name}/{join_path(split_file_path(path, 'from_path', reading=True))}"


def check_target(desk: Desk, to_path: str) -> PathParts:
    parts = canonicalize_path(split_file_path(to_path, "to_path"))
    if not is_inside(namespace_of(parts), desk.principal.root):
        raise Denied(f"{join_path(parts)} is outside the folder of this key.", reason="scope")
    return parts


def write_copy(desk: Desk, parts: PathParts, mode: Mode, text: str, records: Sequence[Record]) -> FileChange:
    """Write a text that was made of these records: it is as confidential as the strictest of them."""
    data = encode_text(text, "the source")
    classes: list[Classification] = [each.classification for each in records]
    strictest: Classification = max(classes, key=CLASSIFICATIONS.index)
    with open_root(desk.server.locations()["vault"]) as folder:
        return write_content(desk, folder, folder.resolve_names(parts), mode, data, classification=strictest)


def count_lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def _copy(
    desk: Desk,
    sources: Sequence[CopySource],
    separator: str,
    to_path: str,
    mode: Mode,
    limits: CopyLimits | None,
    trace_id: str | None,
) -> CopyResponse:
    parts = check_target(desk, to_path)
    records = [_read_source(desk, source) for source in sources]
    texts = [record.text for record in records]
    ended = [text if text.endswith("\n") or not text else f"{text}\n" for text in texts[:-1]]
    text = separator.join([*ended, texts[-1]])
    most = (limits or {}).get("max_chars", MAX_FILE_BYTES)
    if len(text) > most:
        what = records[0].address if len(records) == 1 else f"These {len(records)} parts"
        verb = "has" if len(records) == 1 else "have"
        problem = f"{what} {verb} {len(text)} characters; limits.max_chars is {most}. Nothing was copied."
        raise Invalid(problem, field="limits", limit=most)
    if trace_id is not None:
        for record in records:
            desk.mark_used(record.address, trace_id)
    change = write_copy(desk, parts, mode, text, records)
    response: CopyResponse = {
        "path": change.path,
        "address": file_address(change.path),
        "mode": mode,
        "version": change.version,
        "source": records[0].address,
        "copied_chars": len(text),
        "copied_lines": count_lines(text),
        "bytes": change.size,
        "lines": change.lines,
    }
    if change.previous_version is not None:
        response["previous_version"] = change.previous_version
    return response


def _read_source(desk: Desk, source: CopySource) -> Record:
    """Fails if not all the lines that are wanted are there: whoever may read the file is told how many there are."""
    try:
        record = desk.read(source.address)
    except Missing:
        if not source.file:
            raise
        record = None
    has_lines = record is not None and (
        source.lines is None or count_lines(record.text) > source.lines[1] - source.lines[0]
    )
    total = 0 if has_lines else count_lines(desk.read(source.file).text)
    if source.version:  # whoever came here may read the file
        _check_version(desk, source)
    if record is not None and has_lines:
        return record
    wanted = source.address.rpartition("#")[2]
    raise Invalid(f"{source.file} has {total} lines; {wanted} was asked for.", field="from_ref", limit=total)


def _check_version(desk: Desk, source: CopySource) -> None:
    parts = tuple(parse_address(source.file)[1].split("/"))
    with open_root(desk.server.locations()["vault"]) as folder:
        version = version_of(folder.read(folder.resolve_names(parts)).data)
    if not version.startswith(source.version):
        problem = f"{source.file} has changed: its lines may be others now. Search it again."
        raise Conflict(problem, path=join_path(parts), current_version=version)
