"""What a caller may not see in the records that it may see: texts are masked as a whole, before anything is cut."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from tokonoma.core.desk import Document, Record, Row, SourceText, parse_address
from tokonoma.core.policy import PolicyView
from tokonoma.policy.detections import Detection, Masker, format_mask, mask_text, scan_named

if TYPE_CHECKING:
    from tokonoma.policy.active import ActivePolicy
    from tokonoma.policy.scan import Scanner

_MIN_REPEATED = 4  # characters of a detection that is looked for in a title: fewer may be any word


class CallMasks:
    """One per call."""

    def __init__(self, policy: "ActivePolicy", view: PolicyView) -> None:
        self._policy, self._view = policy, view

    @property
    def sees_private(self) -> bool:
        return self._policy.sees_private(self._view)

    def covers(self, module: str) -> bool:
        return self._policy.masks_records(self._view, module)

    def mask_text(self, text: str, module: str, namespace: str | None = None, path: str | None = None) -> str:
        hidden = self._policy.hidden_at(self._view, module, namespace, path)
        return mask_text(text, _choose(self._policy.scanner.scan(text), hidden))

    def find_hidden(self, text: str, module: str, namespace: str, path: str) -> list[tuple[int, int]]:
        hidden = self._policy.hidden_at(self._view, module, namespace, path)
        return [(each.start, each.end) for each in _choose(self._policy.scanner.scan(text), hidden)]

    def mask_record(self, record: Record) -> Record:
        if not self.covers(record.module):
            return record
        hidden = self._policy.hidden_at(self._view, record.module, record.namespace, parse_address(record.address)[1])
        return mask_record(self._policy.scanner, record, hidden)

    def mask_rows(
        self, rows: Sequence[Row], module: str, namespace_column: int | None = None, *, unclassified: bool = False
    ) -> list[Row]:
        if not unclassified and not self.covers(module):
            return list(rows)
        maskers: dict[str | None, _CellMasker] = {}
        masked: list[Row] = []
        for row in rows:
            namespace = None if namespace_column is None else row[namespace_column]
            masker = maskers.get(namespace)
            if masker is None:
                hidden = self._policy.hidden_at(self._view, module, namespace, None)
                masker = maskers[namespace] = _CellMasker(self._policy.scanner, hidden)
            masked.append(tuple(masker.mask_cell(cell) if isinstance(cell, str) else cell for cell in row))
        return masked


class _CellMasker:
    """Masks the text of one column of a row, which may be JSON."""

    def __init__(self, scanner: "Scanner", hidden: frozenset[str]) -> None:
        self._masker = Masker(scanner, hidden, b"")

    def mask_cell(self, text: str) -> str:
        masked: str = self._masker.mask(text)
        if text[:1] not in ("{", "["):
            return masked
        value = _parse_container(text)
        if value is None:
            return masked
        # As text a key and its value are seen together; as values, what JSON writes with escapes.
        inside = _parse_container(masked)
        if inside is None:  # a detection reached over the end of a string
            inside = self._masker.mask(value)
            masked = orjson.dumps(inside).decode()
        deeper = self._masker.mask(inside)
        return masked if deeper == inside else orjson.dumps(deeper).decode()


def find_in_source(scanner: "Scanner", text: str, source: SourceText | None, start: int) -> Sequence[Detection]:
    """What is found in a text. If it was cut from a longer one, that one is scanned and the finds are cut like it."""
    if source is None:
        return scanner.scan(text)
    found: Sequence[Detection] | None = source.detections.get(scanner.version)
    if found is None:
        found = source.detections[scanner.version] = scanner.scan(source.text)
    end = start + len(text)
    return [
        replace(each, start=max(each.start, start) - start, end=min(each.end, end) - start)
        for each in found
        if each.start < end and start < each.end
    ]


def mask_record(scanner: "Scanner", record: Record, hidden: frozenset[str]) -> Record:
    found = _choose(find_in_source(scanner, record.text, record.source, record.start), hidden)
    title = _mask_title(scanner, record.title, record.text, found, hidden)
    details = {
        key: mask_text(value, _choose(scan_named(scanner, key, value), hidden)) for key, value in record.details.items()
    }
    text = mask_text(record.text, found)
    return replace(record, text=text, title=title, details=details, source=None, start=0)


def mask_document(
    scanner: "Scanner", document: Document, found: Sequence[Detection], hidden: frozenset[str]
) -> Document:
    """A document without the hidden kinds. `found` are the detections in its text."""
    chosen = _choose(found, hidden)

    def mask(text: str) -> str:
        return mask_text(text, _choose(scanner.scan(text), hidden))

    facts = [
        (
            mask(key),
            mask_text(value, _choose(scan_named(scanner, key, value), hidden)) if isinstance(value, str) else value,
        )
        for key, value in document.facts
    ]
    title = _mask_title(scanner, document.title, document.text, chosen, hidden)
    return replace(
        document, text=mask_text(document.text, chosen), title=title, facts=tuple(facts), source=None, start=0
    )


def _mask_title(scanner: "Scanner", title: str, text: str, found: Sequence[Detection], hidden: frozenset[str]) -> str:
    """A title is scanned by itself. What was found in the text is also masked in a title that repeats it."""
    for each in found:
        repeated = text[each.start : each.end]
        if len(repeated) >= _MIN_REPEATED and repeated in title:
            title = title.replace(repeated, format_mask(each.kind))
    return mask_text(title, _choose(scanner.scan(title), hidden))


def _choose(found: Sequence[Detection], hidden: Collection[str]) -> list[Detection]:
    return [each for each in found if each.kind in hidden]


def _parse_container(text: str) -> Any:
    """The object or list that a text writes as JSON; None if it is something else."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
