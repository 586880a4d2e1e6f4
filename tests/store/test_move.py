"""A whole database is copied to the other kind and back: every row of every table, also after kills in between."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import SOAK
from transfer.apps import open_app
from transfer.sync.homes import Editors, Killed

from tokonoma.app import App
from tokonoma.app.places import load_known_tables
from tokonoma.auth.api_keys import create_key
from tokonoma.cli.call import call_tool
from tokonoma.core.errors import Conflict
from tokonoma.store import move
from tokonoma.store.database import Database, format_sqlite_url, open_database
from tokonoma.store.move import DERIVED, MovedTable, move_database


def fill(home: Path, edits: int = 60) -> None:
    """Something in the tables of every module: records, trash, history, keys, policies, the journal."""
    with open_app(home) as app:
        editors = Editors([app], home, 3)
        for _ in range(edits):
            editors.edit(app)
        call_tool(app, "items", "update_current_state", content="here")
        call_tool(app, "vault", "vault_create", path="a.md", content="# A\n\ntext\n")
        _change_policy(app)


def _change_policy(app: App) -> None:
    with app.database.writing() as statements:
        create_key(statements, "laptop")


def known(home: Path) -> dict[str, Any]:
    with open_app(home) as app:
        return dict(load_known_tables(app.home))


def copy(source: str, target: str, sets: dict[str, Any], on_progress: Callable[[str, int], None]) -> list[MovedTable]:
    old, new = open_database(source, durable=False), open_database(target, durable=False)
    try:
        return move_database(old, new, sets, on_progress)
    finally:
        old.close()
        new.close()


def dump(url: str) -> dict[str, list[Any]]:
    """All rows of all tables, but without what each kind of database derives for itself."""
    database: Database = open_database(url, durable=False)
    try:
        with database.reading() as rows:
            names = [name for (name,) in rows.rows(database.dialect.tables) if name not in (*DERIVED, "migration")]
            return {name: sorted(map(_show, rows.rows(f'select * from "{name}"'))) for name in names}
    finally:
        database.close()


def _show(row: tuple[Any, ...]) -> str:
    return repr([bytes(each).hex() if isinstance(each, bytes | memoryview) else each for each in row])


@pytest.mark.soak
def test_there_and_back_with_kills(tmp_path: Path, postgres_at: str) -> None:
    home = tmp_path / "home"
    fill(home, 1000 if SOAK else 40)
    first, back = format_sqlite_url(home / "tokonoma.db"), format_sqlite_url(tmp_path / "back" / "tokonoma.db")
    (tmp_path / "back").mkdir()
    before, sets, chance, kills = dump(first), known(home), random.Random(5), 0

    def die(_: str, __: int) -> None:
        if chance.random() < 0.1:
            raise Killed

    for source, target in ((first, postgres_at), (postgres_at, back)):
        while True:
            try:
                moved = copy(source, target, sets, die)
                break
            except Killed:
                kills += 1
        assert {each.name for each in moved} == before.keys()
    assert kills, "no copy was killed"
    assert dump(first) == before
    assert dump(back) == before
    assert sum(map(len, before.values())) == sum(each.rows for each in moved)
    with open_app(tmp_path / "other", back) as app:
        assert call_tool(app, "items", "get_current_state")["content"] == "here"
        made = call_tool(app, "items", "create_item", type="task", title="next")
        numbers = before["item"]
        assert made["id"] > len(numbers)


def test_a_part_that_no_longer_matches_is_copied_again(tmp_path: Path, postgres_at: str) -> None:
    home = tmp_path / "home"
    fill(home, 10)
    source, sets = format_sqlite_url(home / "tokonoma.db"), known(home)
    tables: list[str] = []

    def stop_after_memos(table: str, _: int) -> None:
        tables.append(table)
        if "memo" in tables[:-1]:
            raise Killed

    with pytest.raises(Killed):
        copy(source, postgres_at, sets, stop_after_memos)
    with open_app(home) as app:
        memo_id = call_tool(app, "memory", "save", content="later")["memo_id"]
        call_tool(app, "memory", "save", memo_id=memo_id, content="later still")
    copy(source, postgres_at, sets, lambda *_: None)
    before, after = dump(source), dump(postgres_at)
    assert before["memo"] == after["memo"]
    assert before["journal"] == after["journal"]


def test_a_target_with_anything_else_in_it_is_refused(tmp_path: Path, postgres_at: str) -> None:
    fill(tmp_path / "home", 5)
    fill(tmp_path / "other", 5)
    source, other = (format_sqlite_url(tmp_path / name / "tokonoma.db") for name in ("home", "other"))
    sets = known(tmp_path / "home")
    with pytest.raises(Conflict, match="not empty"):
        copy(source, other, sets, lambda *_: None)

    def die(*_: Any) -> None:
        raise Killed

    with pytest.raises(Killed):
        copy(source, postgres_at, sets, die)
    with pytest.raises(Conflict, match="not empty"):
        copy(other, postgres_at, sets, lambda *_: None)  # it is an unfinished copy, but of another database
    copy(source, postgres_at, sets, lambda *_: None)
    with pytest.raises(Conflict, match="not empty"):
        copy(source, postgres_at, sets, lambda *_: None)


def test_a_row_that_arrives_changed_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / "home", 10)
    plain = move._convert  # pyright: ignore[reportPrivateUsage]
    flaws = iter([True])

    def change(table: Any, other: Any, row: Any) -> dict[str, Any]:
        values = plain(table, other, row)
        return {**values, "c3": "changed"} if table.name == "memo" and next(flaws, False) else values

    monkeypatch.setattr(move, "_convert", change)
    source, target = (format_sqlite_url(tmp_path / name / "tokonoma.db") for name in ("home", "target"))
    (tmp_path / "target").mkdir()
    copy(source, target, known(tmp_path / "home"), lambda *_: None)
    assert dump(source)["memo"] == dump(target)["memo"]
