"""One row for every record of every module: where it lies, its class, and a digest to see changes by."""

import hashlib

from tokonoma.core.clock import now
from tokonoma.core.desk import Document, Label, Rows, Statements
from tokonoma.core.directory import parts_of
from tokonoma.core.module import Migration

TABLES = (
    Migration(
        "001_document",
        (
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
        ),
    ),
)

_PUT = """insert into document (address, module, space, label, title, digest, changed_at)
values (:address, :module, :space, :label, :title, :digest, :changed_at)
on conflict (address) do update set space = excluded.space, label = excluded.label, title = excluded.title,
    digest = excluded.digest, changed_at = excluded.changed_at"""


def put(statements: Statements, document: Document, label: Label) -> None:
    module, _ = parts_of(document.address)
    statements.run(
        _PUT,
        address=document.address,
        module=module,
        space=document.space,
        label=label,
        title=document.title,
        digest=hashlib.sha256(document.text.encode()).hexdigest(),
        changed_at=now(),
    )


def drop(statements: Statements, address: str) -> None:
    statements.run("delete from document where address = :address", address=address)


def counts(rows: Rows) -> dict[str, int]:
    """Records by module."""
    return dict(rows.rows("select module, count(*) from document group by module"))
