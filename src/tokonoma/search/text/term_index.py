"""Which documents hold which terms: an index in the database that proposes documents, and the statistics for scores.

The index only proposes; term_index never ranks. Where a document lies, and what its title holds, is indexed as tags
beside its terms, so that a filter by module or namespace spares work.

Statistics: how many documents there are and how long they are is stored exactly, by the writers: in one row on SQLite,
where one transaction writes at a time; on PostgreSQL in a row per change, because one row would make all writers wait
for each other, folded into one now and then. How many documents hold a term is counted when it is needed and cached by
the process, because to count it at every save would take a few hundred updates for a memo. A cached number holds until
one document in fifty has changed; in a small store that is at once, and there counting costs next to nothing.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any, NamedTuple

import orjson

from tokonoma.core.desk import Rows, Statements
from tokonoma.search.filters import IndexFilter
from tokonoma.search.text.tokenize import hash_term
from tokonoma.store.dialect import DatabaseKind

_MODULE, _NAMESPACE, _TITLE = "\uf8ffm", "\uf8ffs", "\uf8fft"  # no word begins with a private character


@dataclass(frozen=True, slots=True)
class TermProposal:
    terms: Mapping[str, float]  # each with its weight; a document that holds one of them is proposed
    tags: Sequence[str]  # all of which it must carry
    most: int  # that are likely to be looked at

    def list_weights(self) -> list[tuple[str, float]]:
        """Terms and title tags with what each adds: a term in the title counts twice."""
        return [(token, weight) for term, weight in self.terms.items() for token in (term, to_title_tag(term))]


class TermEntry(NamedTuple):
    """What the index is to hold of a document."""

    document: int
    counts: Mapping[str, int]
    tags: Collection[str]
    new: bool  # it holds nothing of it yet


def build_location_tags(module: str, namespace: str) -> list[str]:
    """Tags of a document's module, its namespace, and those above it.

    Its class is not among them: a new policy changes the classes of many records, whose terms stay as they are.
    """
    parts = [part for part in namespace.split("/") if part]
    return [_MODULE + module, *(f"{_NAMESPACE}/{'/'.join(parts[: n + 1])}" for n in range(len(parts)))]


def to_title_tag(token: str) -> str:
    """The tag of a document with this token in its title: it is proposed before those that have it elsewhere."""
    return _TITLE + token


def build_filter_tags(filter: IndexFilter) -> list[str]:
    """The tags that every document inside a filter carries."""
    modules = [_MODULE + module for module in filter.modules or ()]
    return (modules if len(modules) == 1 else []) + [_NAMESPACE + namespace for namespace in filter.namespaces]


# SQLite: an FTS5 table without content, filled with our own tokens. Its tokenizer `ascii` splits at ASCII characters
# other than letters and digits, and takes everything else as it is. So the other ASCII characters of a token are moved
# into Unicode's private area: one token stays one, and no token has a meaning in a query, where each is quoted.

_PRIVATE = 0xE000
_MOVED = {code: _PRIVATE + code for code in range(128) if not chr(code).isdigit() and not chr(code).islower()}
_SQLITE_INSERT = "insert into words (rowid, word, place) values (:id, :word, :place)"
_SQLITE_ERASE = "delete from words where rowid = :id"
_SQLITE_COUNT = "select f.term, f.doc from json_each(:terms) j cross join frequency f on f.term = j.value"
# Each term's documents in one text: a row for each would take several times as long.
_SQLITE_HOLDING = """select (select json_group_array(rowid) from words where words match j.value)
from json_each(:matches) j"""


_MOVED_AND_SPLIT = {**_MOVED, 0: " "}  # no text holds a NUL, so that it can stand between tokens


def escape_token(token: str) -> str:
    return token.translate(_MOVED)


class SqliteTermIndex:
    def write(self, statements: Statements, entries: Sequence[TermEntry]) -> None:
        # FTS5 collects what ascends, and writes a part of its index to disk for whatever does not.
        ordered = sorted(entries, key=lambda each: each.document)
        statements.run_many(_SQLITE_ERASE, [{"id": each.document} for each in ordered if not each.new])
        statements.run_many(_SQLITE_INSERT, [_to_fts_row(each) for each in ordered])

    def erase(self, statements: Statements, document_id: int) -> None:
        statements.run(_SQLITE_ERASE, id=document_id)

    def count_documents(self, rows: Rows, terms: Collection[str], documents: int) -> dict[str, int]:
        """How many of so many documents hold each of these terms or tags; in a large store, an estimate."""
        names = {escape_token(term): term for term in terms}
        found = rows.rows(_SQLITE_COUNT, terms=orjson.dumps(list(names)).decode())
        return {names[term]: count for term, count in found}

    def propose(self, rows: Rows, proposal: TermProposal, filter: IndexFilter) -> list[int]:
        """Documents that carry the tags, most promising first; the caller checks the rest of the filter. A document is
        worth the sum of those of its terms that propose; of equals the newest is first. FTS5's own rank would cost many
        times as much: it reads the documents of every term again to count them, and the positions of every word."""
        tags = "".join(f' AND "{escape_token(tag)}"' for tag in proposal.tags)
        weights = proposal.list_weights()
        matches = [f'"{escape_token(token)}"{tags}' for token, _ in weights]
        held = rows.rows(_SQLITE_HOLDING, matches=orjson.dumps(matches).decode())
        worth: dict[int, float] = {}
        for (listed,), (_, weight) in zip(held, weights, strict=True):
            for number in orjson.loads(listed):
                worth[number] = worth.get(number, 0.0) + weight
        # Sorting by numbers alone takes a quarter of the time that sorting pairs would.
        return sorted(sorted(worth, reverse=True), key=worth.__getitem__, reverse=True)


def _to_fts_row(entry: TermEntry) -> dict[str, Any]:
    # Each as often as it occurs: the order of proposals depends on it.
    words = chain.from_iterable(map(repeat, entry.counts.keys(), entry.counts.values()))
    return {"id": entry.document, "word": _escape_tokens(words), "place": _escape_tokens(entry.tags)}


def _escape_tokens(tokens: Iterable[str]) -> str:
    """All of them in one text: a translation of each would take several times as long."""
    return "\0".join(tokens).translate(_MOVED_AND_SPLIT)


# PostgreSQL: token hashes in an array under GIN, which any server has. `ts_rank` does not know how rare a word is, and
# has to fetch every text to rank it.

# What is as it was is not written: each new row is entered under all of its tokens.
_POSTGRES_INSERT = """insert into words (document, tokens) values (:id, cast(:tokens as integer[]))
on conflict (document) do update set tokens = excluded.tokens where words.tokens <> excluded.tokens"""
# The last frequencies are the least and the greatest, and that of nulls.
_SHARES = """select cast(cast(s.most_common_elems as text) as integer[]), s.most_common_elem_freqs, c.reltuples
from pg_stats s join pg_class c on c.oid = cast('words' as regclass)
where s.schemaname = any (current_schemas(false)) and s.tablename = 'words' and s.attname = 'tokens'"""
_MANY = 20_000  # documents; where there are fewer, counting is quick
_CACHED = 60.0  # seconds
_POSTGRES_COUNT = """select t.token, (select count(*) from words w where w.tokens @> array[t.token])
from unnest(cast(:tokens as integer[])) t (token)"""
# One text for any number of terms, so that the server plans it once and not at every search.
_WEIGHED = """select w.document, sum(t.weight) as weight
from unnest(cast(:tokens as integer[]), cast(:weights as double precision[])) t (token, weight)
cross join lateral (select document from words where tokens @> array_append(cast(:tags as integer[]), t.token)) w
group by w.document"""
_BEST = f"{_WEIGHED} order by weight desc, document desc limit :most"
_INSIDE = f"""select g.document, g.weight from ({_WEIGHED}) g join document d on d.id = g.document
where {{filter}} order by g.weight desc, g.document desc limit :most"""  # noqa: S608 - our own text


def hash_token(token: str) -> int:
    """Signed, 32 bits. Two tokens rarely share a hash; then a document too many is proposed, never one too few."""
    return hash_term(token) - 2**31


class PostgresTermIndex:
    def __init__(self) -> None:
        self._common: tuple[float, dict[int, float]] = float("-inf"), {}

    def write(self, statements: Statements, entries: Sequence[TermEntry]) -> None:
        rows = [
            {"id": each.document, "tokens": sorted({hash_token(token) for token in (*each.counts, *each.tags)})}
            for each in entries
        ]
        statements.run_many(_POSTGRES_INSERT, rows)

    def erase(self, statements: Statements, document_id: int) -> None:
        statements.run("delete from words where document = :id", id=document_id)

    def count_documents(self, rows: Rows, terms: Collection[str], documents: int) -> dict[str, int]:
        """In a large store common words are not counted, since the server would visit each of their documents: their
        shares are in the statistics of its planner."""
        hashes = {term: hash_token(term) for term in terms}
        shares = self._read_shares(rows, documents) if documents >= _MANY else {}
        found = {number: round(shares[number] * documents) for number in hashes.values() if number in shares}
        rare = [number for number in set(hashes.values()) if number not in found]
        if rare:
            found |= dict(rows.rows(_POSTGRES_COUNT, tokens=rare))
        return {term: found[number] for term, number in hashes.items()}

    def _read_shares(self, rows: Rows, documents: int) -> dict[int, float]:
        """The commonest tokens with the share of documents that hold them; empty while the server does not know it."""
        read_at, shares = self._common
        if time.monotonic() - read_at > _CACHED:
            row = rows.row(_SHARES)
            # Statistics over many fewer or more documents than there are now are not used.
            sound = row is not None and row[0] and 0.7 < row[2] / documents < 1.4
            shares = dict(zip(row[0], row[1], strict=False)) if row is not None and sound else {}
            self._common = time.monotonic(), shares
        return shares

    def propose(self, rows: Rows, proposal: TermProposal, filter: IndexFilter) -> Iterator[int]:
        """Where the tags say nearly all of the filter, to check the rest on every document would be most of the work:
        that is done only if the documents proposed without it were not enough."""
        weights = proposal.list_weights()
        params: dict[str, Any] = {
            "tokens": [hash_token(token) for token, _ in weights],
            "weights": [weight for _, weight in weights],
            "tags": [hash_token(tag) for tag in proposal.tags],
            "most": proposal.most,
        }
        if not filter.narrow and filter.classifications is None:
            best = rows.rows(_BEST, **params)
            yield from (row[0] for row in best)
            if len(best) < proposal.most:
                return
        yield from (row[0] for row in rows.rows(_INSIDE.replace("{filter}", filter.sql), **params, **filter.params))


TermIndex = SqliteTermIndex | PostgresTermIndex


# Statistics

_READ = "select sum(documents), sum(length), sum(changes) from corpus"
_ADD = "update corpus set documents = documents + :documents, length = length + :length, changes = changes + :changes"
_APPEND = "insert into corpus (documents, length, changes) values (:documents, :length, :changes)"
# Rows that others are folding, or have not committed, are skipped: nothing waits, and nothing is counted twice.
_FOLD = """with gone as (
    delete from corpus where id in (select id from corpus order by id limit 1000 for update skip locked)
    returning documents, length, changes
) insert into corpus (documents, length, changes)
select coalesce(sum(documents), 0), coalesce(sum(length), 0), coalesce(sum(changes), 0) from gone"""
_FOLD_EVERY = 64  # documents
_STALE_SHARE = 50  # a cached frequency holds until one document in so many has changed
_MAX_CACHED = 20_000  # terms


@dataclass(frozen=True, slots=True)
class Corpus:
    documents: int
    length: int
    changes: int

    @property
    def average(self) -> float:
        return self.length / self.documents if self.documents and self.length else 1.0


def read_corpus(rows: Rows) -> Corpus:
    return Corpus(*(int(each or 0) for each in rows.rows(_READ)[0]))


def update_corpus(
    kind: DatabaseKind, statements: Statements, changed: Sequence[int], documents: int, length: int
) -> None:
    """Add so many documents and so many words; both may be negative. `changed`: whose terms are new."""
    sql = _ADD if kind == "sqlite" else _APPEND
    statements.run(sql, documents=documents, length=length, changes=len(changed))
    if kind == "postgresql" and any(number % _FOLD_EVERY == 0 for number in changed):
        statements.run(_FOLD)


class TermFrequencies:
    """Shared by the threads of a process: entries are replaced as a whole."""

    def __init__(self, count: Callable[[Rows, Collection[str], int], Mapping[str, int]]) -> None:
        self._count = count
        self._cached: dict[str, tuple[int, int]] = {}

    def look_up(self, rows: Rows, terms: Collection[str], corpus: Corpus) -> dict[str, int]:
        """How many documents hold each term; 0 for one that none holds."""
        cached, tolerance = self._cached, corpus.documents // _STALE_SHARE
        held = {term: cached[term] for term in terms if term in cached}
        found = {term: count for term, (count, at) in held.items() if abs(corpus.changes - at) <= tolerance}
        unknown = [term for term in terms if term not in found]
        if unknown:
            counted = self._count(rows, unknown, corpus.documents)
            if len(cached) > _MAX_CACHED:
                cached = self._cached = {}
            for term in unknown:
                found[term] = counted.get(term, 0)
                cached[term] = (found[term], corpus.changes)
        return found
