"""The tables of the shared index and of its vectors.

document          a row for every record: where it lies, its class, its times, its place in a thread, its author
terms             the terms of a record's text, packed: scores are computed from them
fact              what records can be filtered by
successor         which record replaces which
words             which records hold a term: FTS5 without content on SQLite, arrays of hashes under GIN on PostgreSQL.
                  It only proposes; the database never counts or ranks terms
corpus            how many records, how long they are together, how often that changed
progress          how far `tokonoma reindex` has come
embedding_model   whose vectors are stored: its name, its dimension, and a vector by which it is recognised
embedding         the vectors, of length 1; a long text has several, one for each of its pieces
embedding_change  on SQLite: whose vectors have come, gone or moved, in order, for processes that hold codes in memory
embedding_block   on SQLite: such codes as a process had them, so that the next one need not compute them again

None of them is called `vector`: a table of PostgreSQL is a type too, and pgvector's type has that name.
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
    # The length of its text in words, and the version of its terms; 0: it has none yet.
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

# Tokens are joined by spaces; `ascii` keeps what is not ASCII and splits at the spaces: see text/term_index.py.
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
            # The class that its writer declared; the one in `label` may be stricter. Empty: what is in `label`.
            "alter table document add column declared {text} not null default ''",
            # What was found in it, and by which detectors; empty: it was not scanned yet.
            "alter table document add column kinds {text} not null default ''",
            "alter table document add column detectors {text} not null default ''",
        ),
    ),
    # How many documents hold a word is read from the server's statistics: of 10 000 words, not of 1 000.
    Migration("004_common", (), postgresql=("alter table words alter column tokens set statistics 1000",)),
    # The principal that wrote its text; empty: nobody knows, as of a file that was edited outside.
    Migration("005_author", ("alter table document add column author {text} not null default ''",)),
    # The kinds of detections that its terms, facts and vectors do not hold.
    Migration("006_masked", ("alter table document add column masked {text} not null default ''",)),
    # What was changed in a span of time, newest first.
    Migration("007_changed", ("create index document_changed on document (changed_at, id)",)),
    # From when until when it holds, and which records it replaces: they may be gone, or come later.
    Migration(
        "008_validity",
        (
            "alter table document add column valid_from {big}",
            "alter table document add column valid_until {big}",
            """create table successor (
                older {text} not null,
                newer {big} not null references document (id) on delete cascade,
                primary key (older, newer)
            )""",
            "create index successor_newer on successor (newer)",
        ),
    ),
)

_MODEL = """create table embedding_model (
    id {identity},
    name {text} not null unique,
    recipe {text} not null,
    dimension {big} not null,
    anchor {blob} not null,
    current {big} not null,
    filled {big},
    sealed {big} not null,
    centre {blob}
)"""

_ROWS = """create table embedding (
    id {identity},
    document_id {big} not null references document (id) on delete cascade,
    model {big} not null references embedding_model (id),
    piece integer not null,
    data %s not null,
    unique (document_id, model, piece)
)"""

_SQLITE = (
    _ROWS % "blob",
    "create table embedding_change (seq {identity}, model {big} not null, document_id {big} not null)",
    """create table embedding_block (
        model {big} not null references embedding_model (id),
        number {big} not null,
        form {big} not null,
        count {big} not null,
        names {text} not null,
        data {blob} not null,
        primary key (model, number)
    )""",
    # By triggers, so that no way of dropping or moving a document can forget it. Model 0 stands for all.
    """create trigger embedding_came after insert on embedding begin
        insert into embedding_change (model, document_id) values (new.model, new.document_id);
    end""",
    """create trigger embedding_went after delete on embedding begin
        insert into embedding_change (model, document_id) values (old.model, old.document_id);
    end""",
    """create trigger embedding_moved after update of module, space, label on document
    when (old.module <> new.module or old.space <> new.space or old.label <> new.label)
        and exists (select 1 from embedding where document_id = new.id) begin
        insert into embedding_change (model, document_id) values (0, new.id);
    end""",
)

_POSTGRESQL = (
    _ROWS % "real[]",
    # Numbers do not shrink: the server need not try.
    "alter table embedding alter column data set storage external",
)

VECTOR_TABLES = (
    Migration("001_embedding", (_MODEL,), sqlite=_SQLITE, postgresql=_POSTGRESQL),
    # The language of the embedded text. Piece -1 is the title by itself.
    Migration("002_language", ("alter table embedding add column language {text} not null default ''",)),
    # Two processes that choose a first model at the same moment: one of them follows the other.
    Migration(
        "003_one_model", ("create unique index embedding_model_active on embedding_model (current) where current = 1",)
    ),
    # Which cosines the model gives to unrelated texts: vectors/scale.py.
    Migration("004_scale", ("alter table embedding_model add column scale {text} not null default ''",)),
    # The parts of words in the embedded text, by which it is compared with a query one by one. Null: not known.
    Migration("005_subwords", ("alter table embedding add column subwords {blob}",)),
)
"""Beside those of the index, which they refer to."""
