"""Tables with rows that are hard to carry, for the tests of backups."""

from typing import Any

from tokonoma.core.module import Migration
from tokonoma.store.database import Database

STEPS = (
    Migration(
        "001_words",
        (
            "create table word (id {identity}, text {text} not null unique, share {real}, raw {blob})",
            "create table pair (a {big} not null references word (id), b {big} references word (id), note text)",
            "create table empty (id {identity}, twice {big} generated always as (id * 2) stored)",
        ),
    ),
)
SETS = {"words": STEPS}
HARD = ["", "床の間", "tab\tand\nline", "back\\slash \\N", "quote ' \" %", "x" * 5000, "\\."]


def fill(database: Database, texts: list[str]) -> None:
    insert = "insert into word (text, share, raw) values (:text, :share, :raw)"
    with database.writing() as tx:
        tx.run_many(
            insert, [{"text": text, "share": 1 / (n + 3), "raw": bytes(range(256))} for n, text in enumerate(texts)]
        )
        tx.run("insert into pair (a, b, note) select id, null, :null from word", null=None)
        tx.run("insert into empty (id) values (41)")
        tx.run("delete from empty")


def state(database: Database) -> list[list[Any]]:
    with database.reading() as tx:
        tables = ("select * from word order by id", "select * from pair order by a", "select * from empty")
        return [tx.rows(table) for table in tables] + [tx.rows("select module, name from migration")]


def change(database: Database) -> None:
    with database.writing() as tx:
        tx.run("delete from pair")
        tx.run("delete from word where text <> ''")
        tx.run("insert into word (text) values ('later')")
