"""The tables of vectors.

embedding_model    whose vectors are stored: its name, its dimension, and a vector by which it is known again
embedding          the vectors, of length 1; a long text has several, one for each of its pieces
embedding_change   on SQLite: whose vectors have come, gone or moved, in order, for processes that hold codes in memory
embedding_block    on SQLite: such codes as a process had them, so that the next one need not make them again

None of them is called `vector`: a table of PostgreSQL is a type too, and pgvector's type has that name.
"""

from tokonoma.core.module import Migration

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

# Of what the vector was made of. Piece -1 is the title by itself.
_LANGUAGE = ("alter table embedding add column language {text} not null default ''",)

TABLES = (
    Migration("001_embedding", (_MODEL,), sqlite=_SQLITE, postgresql=_POSTGRESQL),
    Migration("002_language", _LANGUAGE),
)
"""Beside those of the index, which they refer to."""
