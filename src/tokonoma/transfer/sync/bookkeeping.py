"""The sync tables of a home. Changes are collected and stored together; in a rehearsal they are never stored."""

import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from tokonoma.core.clock import now
from tokonoma.core.desk import Rows, Statements
from tokonoma.core.ids import random_hex
from tokonoma.transfer.sync.merge import Body, Edition
from tokonoma.transfer.sync.versions import Version, count_edits, decode_version, encode_version, includes

Key = tuple[str, str]  # kind, name

_HOME = "home:"
_MARK = "file:"
_MAX_MARKS = 1000
_MAX_BASES = 64  # of one record: a home that is away for longer gets both texts instead of a merged one
_PAGE = 500
_CURRENT = f"""select r.kind, r.name, b.body from sync_record r left join sync_base b
on b.kind = r.kind and b.name = r.name and b.version = r.version
where (r.kind, r.name) > (:kind, :name) order by r.kind, r.name limit {_PAGE}"""  # noqa: S608 - a number of our own
_BASES = "select version, at, body from sync_base where kind = :kind and name = :name"
_CONFLICTS = "select kind, name, copy, at, clashes, body from sync_conflict order by at, kind, name, copy"
_PUT_RECORD = """insert into sync_record (kind, name, version, digest, revision, at, boundary, gone)
values (:kind, :name, :version, :digest, :revision, :at, :boundary, :gone) on conflict (kind, name) do update set
version = excluded.version, digest = excluded.digest, revision = excluded.revision, at = excluded.at,
boundary = excluded.boundary, gone = excluded.gone"""
_PUT_BASE = """insert into sync_base (kind, name, version, at, body) values (:kind, :name, :version, :at, :body)
on conflict (kind, name, version) do update set at = excluded.at, body = excluded.body"""
_PUT_CONFLICT = """insert into sync_conflict (kind, name, copy, at, clashes, body)
values (:kind, :name, :copy, :at, :clashes, :body) on conflict (kind, name, copy) do nothing"""
_PUT_MARK = "insert into sync_mark (name, at) values (:name, :at) on conflict (name) do update set at = excluded.at"


@dataclass(frozen=True, slots=True)
class SyncRecord:
    version: Version
    digest: str
    revision: int
    at: int
    boundary: str = ""  # its class here
    gone: bool = False


@dataclass(frozen=True, slots=True)
class SyncConflict:
    """`copy` names the record that holds the other text; empty if there is none, and `body` holds it."""

    kind: str
    name: str
    copy: str
    at: int
    clashes: tuple[str, ...]
    body: Body


class Bookkeeping:
    """The sync tables of one home."""

    def __init__(
        self,
        reading: Callable[[], AbstractContextManager[Rows]],
        writing: Callable[[], AbstractContextManager[Statements]],
        *,
        rehearsal: bool = False,
    ) -> None:
        self._reading, self._writing, self._rehearsal = reading, writing, rehearsal
        self._changes: list[tuple[str, dict[str, Any]]] = []
        self._bases: dict[Key, dict[str, Edition]] = {}  # of a rehearsal, and what is not stored yet
        self.records: dict[Key, SyncRecord] = {}
        with reading() as rows:
            for kind, name, version, digest, revision, at, boundary, gone in rows.rows(
                "select kind, name, version, digest, revision, at, boundary, gone from sync_record"
            ):
                record = SyncRecord(decode_version(version), digest, revision, at, boundary, bool(gone))
                self.records[kind, name] = record
            self.marks = {name for (name,) in rows.rows("select name from sync_mark order by at")}
        self.home = next((name.removeprefix(_HOME) for name in sorted(self.marks) if name.startswith(_HOME)), "")
        if not self.home:
            self.take_new_id()

    # The home and its files

    def take_new_id(self) -> None:
        """For a home that had none, and for one whose id another home uses too: one of them is a copy of the other."""
        if self.home:
            self._add("delete from sync_mark where name = :name", name=_HOME + self.home)
        self.home = random_hex(8)
        self._add(_PUT_MARK, name=_HOME + self.home, at=now())
        self.flush()

    def knows_file(self, mark: str) -> bool:
        return _MARK + mark in self.marks

    def note_file(self, mark: str) -> None:
        """Before a file gets its name: if this process is killed then, the next one knows that it is its own."""
        self.marks.add(_MARK + mark)
        self._add(_PUT_MARK, name=_MARK + mark, at=now())
        self._add(
            f"""delete from sync_mark where name like '{_MARK}%' and name not in
            (select name from sync_mark where name like '{_MARK}%' order by at desc limit {_MAX_MARKS})"""  # noqa: S608
        )
        self.flush()

    # Records

    def put(self, key: Key, record: SyncRecord, body: Body | None) -> None:
        """Note a version of a record that is stored here; it may be the base of a later merge."""
        self.records[key] = record
        self._add(
            _PUT_RECORD,
            **_name(key),
            version=encode_version(record.version),
            digest=record.digest,
            revision=record.revision,
            at=record.at,
            boundary=record.boundary,
            gone=int(record.gone),
        )
        if record.gone:
            self._bases.pop(key, None)
            self._add("delete from sync_base where kind = :kind and name = :name", **_name(key))
        elif body is not None:
            self.put_base(key, record.version, Edition(body, record.at))

    def forget(self, key: Key) -> None:
        """As if this home had never seen it."""
        del self.records[key]
        self._bases.pop(key, None)
        for table in ("sync_record", "sync_base"):
            self._add(f"delete from {table} where kind = :kind and name = :name", **_name(key))  # noqa: S608 - our own

    def put_base(self, key: Key, version: Version, edition: Edition) -> None:
        if edition.body is None:
            return
        encoded = encode_version(version)
        self._bases.setdefault(key, {})[encoded] = edition
        self._add(_PUT_BASE, **_name(key), version=encoded, at=edition.at, body=_pack(edition.body))

    def read_bases(self, key: Key) -> list[tuple[Version, Edition]]:
        with self._reading() as rows:
            found = rows.rows(_BASES, **_name(key))
        bases = {version: Edition(_unpack(body), at) for version, at, body in found} | self._bases.get(key, {})
        return [(decode_version(version), edition) for version, edition in bases.items()]

    def read_body(self, key: Key) -> Body | None:
        """The record as it was when this home last looked."""
        wanted = self.records[key].version
        return next((edition.body for version, edition in self.read_bases(key) if version == wanted), None)

    def read_current(self, last: Key = ("", "")) -> Iterator[tuple[Key, SyncRecord, Body | None]]:
        """All records after a key, in order, each with its body; None if it is gone."""
        while True:
            with self._reading() as rows:
                page = rows.rows(_CURRENT, kind=last[0], name=last[1])
            for kind, name, body in page:
                last = (kind, name)
                yield last, self.records[last], None if body is None else _unpack(body)
            if len(page) < _PAGE:
                return

    def drop_old_bases(self, seen: dict[Key, list[Version]]) -> None:
        """Drop what no merge needs any more, because every other home has a later version. `seen`: their versions."""
        with self._reading() as rows:
            many = rows.rows("select kind, name from sync_base group by kind, name having count(*) > 1")
        for kind, name in many:
            key = (kind, name)
            bases = sorted((version for version, _ in self.read_bases(key)), key=count_edits)
            shared = [each for each in bases if all(includes(other, each) for other in seen.get(key, ()))]
            old = [each for each in bases if any(each != later and includes(later, each) for later in shared)]
            old += [each for each in bases[:-_MAX_BASES] if each not in old]
            current = self.records[key].version
            for version in old:
                if version != current:
                    encoded = encode_version(version)
                    self._bases.get(key, {}).pop(encoded, None)
                    self._add(
                        "delete from sync_base where kind = :kind and name = :name and version = :version",
                        **_name(key),
                        version=encoded,
                    )
        self.flush()

    # Conflicts

    def put_conflict(self, conflict: SyncConflict) -> None:
        self._add(
            _PUT_CONFLICT,
            **_name((conflict.kind, conflict.name)),
            copy=conflict.copy,
            at=conflict.at,
            clashes=" ".join(conflict.clashes),
            body=_pack(conflict.body),
        )

    def drop_conflict(self, conflict: SyncConflict) -> None:
        sql = "delete from sync_conflict where kind = :kind and name = :name and copy = :copy"
        self._add(sql, **_name((conflict.kind, conflict.name)), copy=conflict.copy)

    def list_conflicts(self) -> list[SyncConflict]:
        with self._reading() as rows:
            found = rows.rows(_CONFLICTS)
        return [
            SyncConflict(kind, name, copy, at, tuple(clashes.split()), _unpack(body))
            for kind, name, copy, at, clashes, body in found
        ]

    # Storing

    def flush(self) -> None:
        """Store what was noted, in one transaction."""
        if self._rehearsal or not self._changes:
            return
        with self._writing() as statements:
            for sql, params in self._changes:
                statements.run(sql, **params)
        self._changes.clear()
        self._bases.clear()

    def _add(self, sql: str, **params: Any) -> None:
        self._changes.append((sql, params))


def _name(key: Key) -> dict[str, str]:
    return {"kind": key[0], "name": key[1]}


def _pack(body: Body) -> bytes:
    return zlib.compress(json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _unpack(packed: bytes) -> dict[str, Any]:
    return json.loads(zlib.decompress(bytes(packed)).decode("utf-8", "surrogatepass"))
