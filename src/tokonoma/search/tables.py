"""The tables of the shared index. All but one are the same on both databases.

document   one row for every record: where it lies, its class, its times, its place in a thread
terms      what a record's text is made of, as a compact blob: scores are computed from it
fact       what records can be filtered by
words      which records hold a word: FTS5 without content on SQLite, arrays of hashes under GIN on PostgreSQL.
           It only proposes; a word is never counted or ranked by the database
corpus     how many records, how long they are together, how often that changed
progress   how far `tokonoma reindex` has come
"""

from tokonoma.core.module import Migration
from tokonoma.search.facts import INDEXED_LENGTH

_DOCUMENT = (
    """create table document (
        id {identity},
        address text not null unique,
        module text not null,
        space text not null,
        label text not null,
        title text not null,
        digest text not null,
        changed_at {big} not null
    )""",
    "create index document_module on document (module, space)",
)

_MORE_OF_A_DOCUMENT = (
    "alter table document add column at {big} not null default 0",
    "alter table document add column expires_at {big}",
    "alter table document add column thread {text} not null default ''",
    "alter table document add column place {big} not null default 0",
    # The length of its text in words, and the rules by which those were cut; 0: it has none yet.
    "alter table document add column length integer not null default 0",
    "alter table document add column form integer not null default 0",
    "create index document_space on document (space, at)",
    "create index document_at on document (at, id)",
    "create index document_label on document (label)",
    "create index document_thread on document (thread, space, module, place, id) where thread <> ''",
    "create index document_expires on document (expires_at) where expires_at is not null",
    """create table terms (
        document {big} primary key references document (id) on delete cascade,
        data {blob} not null
    )""",
    """create table fact (
        document {big} not null references document (id) on delete cascade,
        key {text} not null,
        text {text},
        number {real}
    )""",
    "create index fact_document on fact (document, key)",
    f"create index fact_text on fact (key, substr(text, 1, {INDEXED_LENGTH}), document)",
    "create index fact_number on fact (key, number, document)",
    """create table corpus (
        id {identity},
        documents {big} not null,
        length {big} not null,
        changes {big} not null
    )""",
    "insert into corpus (documents, length, changes) values (0, 0, 0)",
    "create table progress (module {text} primary key, after {text} not null, done {big} not null)",
)

# Tokens come made, joined by spaces; `ascii` keeps whatever is no ASCII and cuts at the spaces: see tokens.py.
_WORDS_OF_SQLITE = (
    """create virtual table words using fts5(
        word, place, content = '', contentless_delete = 1, detail = full, tokenize = 'ascii'
    )""",
    "create virtual table frequency using fts5vocab(words, 'row')",
    "insert into words (words, rank) values ('rank', 'bm25(1.0, 0.0)')",
)

_WORDS_OF_POSTGRESQL = (
    # Ranges over paths and addresses are by code points, whatever the server's language is.
    "alter table document alter column address type {text}",
    "alter table document alter column module type {text}",
    "alter table document alter column space type {text}",
    """create table words (
        document bigint primary key references document (id) on delete cascade,
        tokens integer[] not null
    )""",
    # A pending list would make saves cheaper by a millisecond, and every search pay for reading it.
    "create index words_tokens on words using gin (tokens) with (fastupdate = off)",
)

TABLES = (
    Migration("001_document", _DOCUMENT),
    Migration("002_words", _MORE_OF_A_DOCUMENT, sqlite=_WORDS_OF_SQLITE, postgresql=_WORDS_OF_POSTGRESQL),
    Migration(
        "003_boundary",
        (
            # What its writer said of it; the class in `label` may be stricter. Empty: what is in `label`.
            "alter table document add column declared {text} not null default ''",
            # What was found in it, and by which detectors; empty: nobody has looked yet.
            "alter table document add column kinds {text} not null default ''",
            "alter table document add column detectors {text} not null default ''",
        ),
    ),
    # How many documents hold a word is read from the server's statistics: of 10 000 words, not of 1 000.
    Migration("004_common", (), postgresql=("alter table words alter column tokens set statistics 1000",)),
)
