"""Backups of PostgreSQL: archives that fit, or are refused."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from store.words import HARD, SETS, STEPS, change, fill, state

from tokonoma.core.errors import Conflict, Refusal, Unready
from tokonoma.core.module import Migration
from tokonoma.store import file_archive
from tokonoma.store.backup import create_backup, restore_backup
from tokonoma.store.database import open_database
from tokonoma.store.migrate import migrate


def rewritten(source: Path, target: Path, change_manifest) -> Path:
    """The archive with another manifest, which fits the zip but not the rows."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "manifest.json":
                manifest = json.loads(content)
                change_manifest(manifest)
                content = json.dumps(manifest).encode()
            new.writestr(name, content)
        new.comment = b"\n" * 128
    file_archive._write_seal(target, 1)  # the seal is no secret
    return target


@pytest.mark.parametrize(
    ("change_manifest", "reason"),
    [
        (lambda m: m.update(format=2), "newer_schema"),
        (lambda m: m["tables"][0].update(rows=1), "damaged"),
        (lambda m: m["tables"][0].update(sha256="0" * 64), "damaged"),
        (lambda m: m["tables"][2].update(digest="0" * 64), "restore"),
        (lambda m: m["tables"][2].update(columns=["id"]), "other_schema"),
        (lambda m: m["tables"][0].pop("rows"), "damaged"),
        (lambda m: m["migrations"].update(others=["1"]), "unknown_schema"),
        (lambda m: m["migrations"].update(words=[]), "other_schema"),
        (lambda m: m.pop("tables"), "damaged"),
    ],
)
def test_an_archive_that_does_not_fit_is_refused(postgres_database, tmp_path, change_manifest, reason):
    migrate(postgres_database, "words", STEPS, lambda reason: None)
    fill(postgres_database, ["a"])
    create_backup(postgres_database, tmp_path / "x.backup")
    change(postgres_database)
    before = state(postgres_database)
    with pytest.raises(Refusal) as refused:
        restore_backup(postgres_database, rewritten(tmp_path / "x.backup", tmp_path / "y", change_manifest), SETS)
    assert refused.value.reason == reason
    assert state(postgres_database) == before
    with postgres_database.writing() as tx:  # the counter, too, is where it was
        assert tx.row("insert into word (text) values ('z') returning id") == (before[0][-1][0] + 1,)


def test_other_migrations_are_refused(postgres_database, tmp_path):
    newer = (*STEPS, Migration("002_more", ("create table more (id {identity})",)))
    migrate(postgres_database, "words", STEPS, lambda reason: None)
    create_backup(postgres_database, tmp_path / "x.backup")
    migrate(postgres_database, "words", newer, lambda reason: None)
    with pytest.raises(Unready) as refused:
        restore_backup(postgres_database, tmp_path / "x.backup", {"words": newer})
    assert (refused.value.reason, refused.value.details["sets"]) == ("other_schema", ["words"])


def test_tables_that_refer_in_circles_come_back(postgres_database, tmp_path):
    steps = (
        Migration(
            "001_circle",
            (
                "create table a (id {big} primary key, b {big})",
                "create table b (id {big} primary key, a {big} not null references a (id) on delete cascade)",
                "alter table a add constraint a_b foreign key (b) references b (id)",
            ),
        ),
    )
    migrate(postgres_database, "circle", steps, lambda reason: None)
    with postgres_database.writing() as tx:
        tx.run("insert into a values (1, null)")
        tx.run("insert into b values (2, 1)")
        tx.run("update a set b = 2")
    create_backup(postgres_database, tmp_path / "x.backup")
    restore_backup(postgres_database, tmp_path / "x.backup", {"circle": steps})
    with postgres_database.reading() as tx:
        assert tx.rows("select a.id, b.id from a join b on a.b = b.id and b.a = a.id") == [(1, 2)]
    with pytest.raises(Conflict), postgres_database.writing() as tx:  # the references hold again
        tx.run("update a set b = 7")


def test_an_archive_travels_to_another_server(postgres, postgres_database, tmp_path):
    migrate(postgres_database, "words", STEPS, lambda reason: None)
    fill(postgres_database, HARD)
    create_backup(postgres_database, tmp_path / "x.backup")
    shutil.move(tmp_path / "x.backup", tmp_path / "moved")
    name = postgres.take()
    other = open_database(postgres.url(name), durable=False)
    migrate(other, "words", STEPS, lambda reason: None)
    restore_backup(other, tmp_path / "moved", SETS)
    assert state(other) == state(postgres_database)
    other.close()
    postgres.give(name)
