"""`recover`: everything around the damage comes back, what is lost is named, and the damaged file stays as it is."""

import json
import sqlite3

import apsw
import pytest
from talk import Lines

from tokonoma.app import App

COUNT = 120


@pytest.fixture
def database(home):
    """A database with memos of several pages each, items and claims; closed."""
    app = App({"home": str(home), "durable": False, "embed_provider": "none", "log_level": "error"}, {})
    talk = Lines(app)
    talk.call("items", "create_item", type="issue", title="An item")  # first: the list of tables is not at the end
    lines = [{"module": "memory", "tool": "save", "params": {"content": f"{n}:" * 400}} for n in range(COUNT)]
    for start in range(0, COUNT, 40):
        talk.batch(*({"id": str(n), **each} for n, each in enumerate(lines[start : start + 40])))
    app.close()
    return home / "tokonoma.db"


def leaves(database, table: str) -> list[int]:
    connection = apsw.Connection(str(database))
    sql = "select pageno from dbstat where name = ? and pagetype = 'leaf' order by path"
    found = [row[0] for row in connection.execute(sql, [table])]
    connection.close()
    return found


def spoil(database, *pages: int) -> bytes:
    content = bytearray(database.read_bytes())
    for page in pages:
        content[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
    database.write_bytes(content)
    return bytes(content)


def memos_in(folder) -> list[str]:
    lines = [json.loads(line) for line in (folder / "memos.jsonl").read_text().splitlines()]
    return [each["content"] for each in lines if each["type"] == "memo"]


def find_table(report, name: str):
    return next(each for each in report["tables"] if each["name"] == name)


def test_a_whole_database_is_read_whole(run, database, tmp_path):
    result = run("recover", str(tmp_path / "out"), "--json")
    assert result.exit_code == 0, result.output
    assert sorted(memos_in(tmp_path / "out")) == sorted(f"{n}:" * 400 for n in range(COUNT))
    names = {each.name for each in (tmp_path / "out").iterdir()}
    assert names == {"recovered.backup", "memos.jsonl", "items", "report.json"}
    assert len(list((tmp_path / "out" / "items").rglob("*.md"))) == 1


def test_what_lies_around_damaged_pages_comes_back_and_the_rest_is_named(run, value, database, tmp_path):
    pages = leaves(database, "memo")
    before = spoil(database, pages[3], pages[len(pages) // 2], pages[len(pages) // 2 + 1])
    told = run("doctor")
    assert "tokonoma recover" in told.output
    result = run("recover", str(tmp_path / "out"), "--json")
    assert result.exit_code == 1, result.output
    assert database.read_bytes() == before
    assert {each.name for each in database.parent.iterdir()} == {"tokonoma.db", "tokonoma.db-heads"}
    memos, report = memos_in(tmp_path / "out"), json.loads(result.stdout)
    lost = find_table(report, "memo")
    assert COUNT - 30 < len(memos) < COUNT
    assert (lost["rows"], lost["lost"], len(lost["keys"])) == (len(memos), COUNT - len(memos), COUNT - len(memos))
    assert not set(lost["keys"]) & set(ids_in(tmp_path / "out"))
    # As an import into an empty home, and as a backup.
    fresh = ("--home", str(tmp_path / "fresh"))
    assert value(*fresh, "import", str(tmp_path / "out" / "memos.jsonl"), "--json")["memos"]["saved"] == len(memos)
    assert run("restore", str(tmp_path / "out" / "recovered.backup"), "--yes").exit_code == 0
    assert run("reindex").exit_code == 0
    assert len(value("call", "memory", "search", '{"query": "7", "k": 50}')["items"]) > 0
    assert run("doctor").exit_code == 0


def ids_in(folder) -> list[str]:
    lines = [json.loads(line) for line in (folder / "memos.jsonl").read_text().splitlines()]
    return [each["memo_id"] for each in lines if each["type"] == "memo"]


def test_without_an_index_rows_are_found_by_halving(run, database, tmp_path):
    """The index that names the rows is damaged too."""
    pages = leaves(database, "memo")
    shell = sqlite3.connect(database)
    indexes = [name for (name,) in shell.execute("select name from sqlite_schema where tbl_name = 'memo'")]
    shell.close()
    spoil(
        database, pages[3], pages[9], *(page for name in indexes if name != "memo" for page in leaves(database, name))
    )
    assert run("recover", str(tmp_path / "out")).exit_code == 1
    assert COUNT - 20 < len(memos_in(tmp_path / "out")) < COUNT


@pytest.mark.parametrize("damage", ["header", "cut"])
def test_a_file_that_sqlite_does_not_open_is_read(run, database, tmp_path, damage):
    content = database.read_bytes()
    database.write_bytes(bytes(100) + content[100:] if damage == "header" else content[:-8192])
    result = run("recover", str(tmp_path / "out"))
    assert result.exit_code == (0 if damage == "header" else 1), result.output
    assert len(memos_in(tmp_path / "out")) > COUNT // 2


def test_what_cannot_be_recovered_says_so(run, home, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    (tmp_path / "text").write_text("hello" * 100)
    assert "no database at" in run("recover", str(tmp_path / "out")).stderr
    assert "not empty" in run("recover", str(tmp_path / "full"), "--from", str(tmp_path / "text")).stderr
    assert "nothing can be read" in run("recover", str(tmp_path / "out"), "--from", str(tmp_path / "text")).stderr
    postgres = run("recover", str(tmp_path / "out"), "--database-url", "postgresql://localhost/x")
    assert "Only SQLite" in postgres.stderr
