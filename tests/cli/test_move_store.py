"""`tokonoma move-store`: everything is found in the new database, and the setting is changed if asked."""

import json
from pathlib import Path

from cli.conftest import Run

from tokonoma.store.database import format_sqlite_url


def test_the_records_and_their_index_move(run: Run, home: Path, tmp_path: Path) -> None:
    assert run("call", "memory", "save", '{"content": "green tea at four"}').exit_code == 0
    (home / "tokonoma.toml").write_text("# mine\nport = 9000\n")
    (tmp_path / "new").mkdir()
    target = format_sqlite_url(tmp_path / "new" / "tokonoma.db")
    done = run("move-store", target, "--switch")
    assert done.exit_code == 0, done.output
    assert "Copied and compared" in done.output
    assert "The data before is still in" in done.output
    assert (home / "tokonoma.toml").read_text().splitlines()[1:] == ["# mine", "port = 9000"]
    shown = json.loads(run("config", "show", "--json").stdout)
    assert (shown["port"], shown["database_url"]) == (9000, str(tmp_path / "new" / "tokonoma.db"))
    found = run("call", "memory", "search", '{"query": "green tea", "mode": "text"}')
    assert "green tea at four" in found.output
    again = run("move-store", target)
    assert again.exit_code == 1
    assert "in use" in again.output


def test_without_switch_it_says_what_to_change(run: Run, home: Path, tmp_path: Path) -> None:
    assert run("move-store", format_sqlite_url(tmp_path / "x.db")).exit_code == 1  # there is nothing to move
    assert run("call", "memory", "save", '{"content": "x"}').exit_code == 0
    done = run("move-store", format_sqlite_url(tmp_path / "x.db"))
    assert "Now set database_url" in done.output
    assert not (home / "tokonoma.toml").exists()
    refused = run("move-store", format_sqlite_url(tmp_path / "x.db"))
    assert refused.exit_code == 1
    assert "is not empty" in refused.output
