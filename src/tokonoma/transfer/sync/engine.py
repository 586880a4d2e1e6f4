"""Brings the records of a home together with those of others: notes what was edited here, merges what others publish.

A record is stored first and noted after that. If the process is killed between the two, the next run takes what it
finds for an edit that was made here, and merges it again: with the same result.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tokonoma.core.clock import now
from tokonoma.core.namespaces import is_inside
from tokonoma.transfer.sync.base import find_base
from tokonoma.transfer.sync.bookkeeping import Bookkeeping, Key, SyncConflict, SyncRecord
from tokonoma.transfer.sync.kinds import CallTool, RecordChange, RecordKind
from tokonoma.transfer.sync.merge import DELETED, Body, Edition, MergedEdition, digest_body, merge_editions
from tokonoma.transfer.sync.versions import Version, add_edit, includes, join_versions

_BATCH = 200
_COPY_VERSION: Version = {"conflict": 1}
"""Every home that keeps the same text makes the same copy."""


@dataclass(frozen=True, slots=True)
class PublishedRecord:
    """A record of another home. `body` is None if it is gone there."""

    kind: str
    name: str
    version: Version
    at: int
    body: Body | None


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """What to store here, and what to note when it is stored."""

    key: Key
    change: RecordChange
    version: Version
    at: int
    theirs: PublishedRecord | None = None
    conflict: SyncConflict | None = None


@dataclass(slots=True)
class SyncTally:
    """By kind: what was edited here, taken from others, merged, removed. And what could not be done."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    conflicts: list[SyncConflict] = field(default_factory=list[SyncConflict])
    skipped: dict[Key, str] = field(default_factory=dict[Key, str])
    moved: set[Key] = field(default_factory=set[Key])


class SyncEngine:
    """One sync of one home."""

    def __init__(
        self,
        kinds: Sequence[RecordKind],
        call: CallTool,
        books: Bookkeeping,
        namespace: str = "/",
        options: Mapping[str, bool] | None = None,
        on_progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._kinds = {kind.name: kind for kind in kinds}
        self._call, self._books, self._namespace = call, books, namespace
        self._options, self._on_progress = options or {}, on_progress
        self._planned: dict[Key, PlannedChange] = {}
        self.tally = SyncTally()
        self.seen: dict[Key, list[Version]] = {}  # the versions of other homes

    # What was edited here

    def scan(self) -> None:
        """Note every record that was edited here since the last sync."""
        for kind in self._kinds.values():
            seen: set[str] = set()
            for each in kind.read(self._call):
                seen.add(each.name)
                self._note_stored(kind, (kind.name, each.name), each.body, each.revision)
                if len(seen) % _BATCH == 0:
                    self._books.flush()
                    self._on_progress(f"{len(seen)} {kind.name} records read")
            missing = [key for key, record in self._books.records.items() if key[0] == kind.name and not record.gone]
            for key in missing:
                if key[1] not in seen:
                    self._note_missing(kind, key)
            self._books.flush()

    def _note_stored(self, kind: RecordKind, key: Key, body: Body, revision: int) -> None:
        known, digest = self._books.records.get(key), digest_body(kind.rules, body)
        boundary = _read_class(body)
        if known is not None and known.digest == digest and not known.gone:
            if (known.revision, known.boundary) != (revision, boundary):
                self._books.put(key, replace(known, revision=revision, boundary=boundary), None)
            return
        version = add_edit(known.version if known else {}, self._books.home)
        self._books.put(key, SyncRecord(version, digest, revision, body.get("updated_at") or now(), boundary), body)
        self.tally.counts[kind.name, "edited here"] += 1

    def _note_missing(self, kind: RecordKind, key: Key) -> None:
        """A record that was removed for good. After its time in the trash this is no edit: others may have it there."""
        known, body = self._books.records[key], self._books.read_body(key)
        if self._went_with_another(kind, key):
            self._books.forget(key)  # it went with another record, and comes back with it
            return
        expires = (body or {}).get("expires_at")
        if not (kind.has_trash and body and (body.get("deleted_at") is not None or (expires and expires <= now()))):
            known = replace(known, version=add_edit(known.version, self._books.home), at=now())
            self.tally.counts[kind.name, "edited here"] += 1
        self._books.put(key, replace(known, digest="", revision=0, gone=True), None)

    def _went_with_another(self, kind: RecordKind, key: Key) -> bool:
        others = (self._books.records.get(each) for each in kind.needs(key[1]))
        return any(other is not None and other.gone for other in others)

    # What others have

    def receive(self, records: Iterable[PublishedRecord]) -> None:
        """Merge the records of another home, kind by kind: some need others to be stored before them."""
        by_kind: dict[str, list[PublishedRecord]] = {name: [] for name in self._kinds}
        for each in records:
            if each.kind in by_kind and self._is_inside(each):
                by_kind[each.kind].append(each)
                self.seen.setdefault((each.kind, each.name), []).append(each.version)
        for kind in self._kinds.values():
            for each in by_kind[kind.name]:
                self._take(kind, each)
                if len(self._planned) >= _BATCH and not kind.together:
                    self._store()
            self._store()

    def _is_inside(self, theirs: PublishedRecord) -> bool:
        if self._namespace == "/":
            return True
        key, body = (theirs.kind, theirs.name), theirs.body
        if body is None and key in self._books.records:
            body = self._books.read_body(key)
        return body is not None and is_inside(body["namespace"], self._namespace)

    def _take(self, kind: RecordKind, theirs: PublishedRecord) -> None:
        key = (kind.name, theirs.name)
        if key in self._planned:
            self._store()
        ours, digest = self._books.records.get(key), digest_body(kind.rules, theirs.body)
        if ours is None:
            if self._went_with_another(kind, key):
                return
            if theirs.body is None:
                self._books.put(key, SyncRecord(theirs.version, "", 0, theirs.at, gone=True), None)
            else:
                self._plan(kind, theirs, theirs.version, MergedEdition(theirs.body, theirs.at), "taken")
            return
        is_same = ours.digest == digest and ours.gone == (theirs.body is None)
        if includes(ours.version, theirs.version):
            # The same version with another text: homes had merged it with different bases.
            if is_same or ours.gone or theirs.body is None or not includes(theirs.version, ours.version):
                return
        elif includes(theirs.version, ours.version) and not is_same:
            what = "removed" if Edition(theirs.body, theirs.at).is_deleted else "taken"
            self._plan(kind, theirs, theirs.version, MergedEdition(theirs.body, theirs.at), what)
            return
        version = join_versions(ours.version, theirs.version)
        if is_same:
            body = None if ours.gone else self._books.read_body(key)
            self._books.put(key, replace(ours, version=version, at=max(ours.at, theirs.at)), body)
            return
        self._merge(kind, ours, theirs, version)

    def _merge(self, kind: RecordKind, ours: SyncRecord, theirs: PublishedRecord, version: Version) -> None:
        key = (kind.name, theirs.name)
        bases = self._books.read_bases(key)
        own = Edition(None if ours.gone else self._books.read_body(key), ours.at)
        is_equal = ours.version == theirs.version  # it is not known from which base the two texts were merged
        base = None if is_equal else find_base(kind.rules, bases, ours.version, theirs.version)
        merged = merge_editions(kind.rules, base, own, Edition(theirs.body, theirs.at))
        self._plan(kind, theirs, version, merged, "merged")

    def _plan(
        self, kind: RecordKind, theirs: PublishedRecord, version: Version, merged: MergedEdition, what: str
    ) -> None:
        key = (kind.name, theirs.name)
        ours = self._books.records.get(key)
        before = None if ours is None or ours.gone else self._books.read_body(key)
        body = merged.body
        if body is None and before is not None and kind.has_trash:
            body = {**before, "deleted_at": before.get("deleted_at") or now()}
        conflict = self._keep_other_side(kind, key, merged) if merged.clashes else None
        expected = 0 if ours is None else ours.revision
        if before is not None and body is not None and digest_body(kind.rules, body) == digest_body(kind.rules, before):
            change = RecordChange(key[1], body, expected)
            planned = PlannedChange(key, change, version, merged.at, theirs, conflict)
            self._note(planned, expected, body, ours.boundary if ours else "")
            return
        if before is None and (body is None or body.get("deleted_at") is not None) and ours is not None:
            self._books.put(key, replace(ours, version=version, at=merged.at), None)  # gone here, in the trash there
            return
        change = RecordChange(key[1], body, expected, before)
        self._planned[key] = PlannedChange(key, change, version, merged.at, theirs, conflict)
        self.tally.counts[kind.name, what] += 1

    def _keep_other_side(self, kind: RecordKind, key: Key, merged: MergedEdition) -> SyncConflict:
        """Plan the copy that keeps the text of the other side, before the record itself is written."""
        copy = ""
        if merged.lost is not None and merged.body is not None and kind.keep_copy is not None:
            made = kind.keep_copy(key[1], merged.lost, merged.body, digest_body(kind.rules, merged.lost))
            copy = made[0][1]
            for kind_name, name, body in made:
                self._plan_copy((kind_name, name), body)
        other = merged.lost or merged.body or {}
        return SyncConflict(kind.name, key[1], copy, merged.at, merged.clashes, other)

    def _plan_copy(self, key: Key, body: Body) -> None:
        if key not in self._books.records and key not in self._planned:
            self._planned[key] = PlannedChange(
                key, RecordChange(key[1], body, 0), _COPY_VERSION, body.get("updated_at") or 0
            )

    # Storing

    def _store(self) -> None:
        """Store what is planned: copies first, then what they were made from."""
        planned, self._planned = self._planned, {}
        for kind in self._kinds.values():
            changes = [each for each in planned.values() if each.key[0] == kind.name]
            if not changes:
                continue
            outcomes = kind.write(self._call, [each.change for each in changes], self._options)
            for each, outcome in zip(changes, outcomes, strict=True):
                if outcome.outcome == "written":
                    self._note(each, outcome.revision, outcome.body or each.change.body, outcome.boundary)
                    if outcome.why:
                        self.tally.skipped[each.key] = outcome.why
                elif outcome.outcome == "moved":
                    self.tally.moved.add(each.key)
                else:
                    self.tally.skipped[each.key] = outcome.why
        self._books.flush()
        if planned:
            self._on_progress(f"{sum(self.tally.counts.values())} records")

    def _note(self, planned: PlannedChange, revision: int, body: Body | None, boundary: str = "") -> None:
        kind = self._kinds[planned.key[0]]
        if planned.theirs is not None and planned.theirs.body is not None:
            self._books.put_base(planned.key, planned.theirs.version, Edition(planned.theirs.body, planned.theirs.at))
        digest, boundary = digest_body(kind.rules, body), boundary or _read_class(body or {})
        record = SyncRecord(planned.version, digest, revision, planned.at, boundary, body is None)
        self._books.put(planned.key, record, body)
        conflict, original = planned.conflict, kind.find_original(body) if body else None
        if original and planned.theirs is not None and planned.change.expected == 0:  # another home has kept it
            conflict = SyncConflict(kind.name, original, planned.key[1], planned.at, (), body or {})
        if conflict is not None:
            self._books.put_conflict(conflict)
            self.tally.conflicts.append(conflict)


def _read_class(body: Body) -> str:
    return body.get("boundary") or body.get("boundary_class") or ""


def is_open(conflict: SyncConflict, books: Bookkeeping) -> bool:
    """Whether it is not settled yet: a copy until it is deleted, a deletion until it is done again."""
    if not conflict.copy and conflict.clashes != (DELETED,):
        return True
    key = (conflict.kind, conflict.copy or conflict.name)
    record = books.records.get(key)
    if record is None:
        return True  # the copy could not be stored
    body = None if record.gone else books.read_body(key)
    return body is not None and body.get("deleted_at") is None
