"""What commands print: no stored text steers the terminal, everything goes through one place."""

import ast
import json
from pathlib import Path

import pytest
from cli.terminal import show_at_terminal

from tokonoma.cli.output import fit_widths, print_table
from tokonoma.core.printable import measure_width

SOURCE = Path(__file__).parents[2] / "src" / "tokonoma"
HOSTILE = "safe\x1b]0;owned\x07\x1b[2J\x9b31m\rOVER\x08\u202eevil\u2066x\x7f"
STEERING = {"\x1b", "\x07", "\x9b", "\x08", "\u202e", "\u2066", "\x7f"}
PRINTING = ("click.echo", "click.secho", "click.style", "print")
SHOWN = [
    ["call", "memory", "list"],
    ["call", "memory", "get", json.dumps({"memo_id": HOSTILE})],  # the error repeats it
    ["memory", "list"],
    ["memory", "show", "0"],
    ["memory", "search", "safe", "--explain"],
    ["memory", "show", HOSTILE],
    ["items", "list"],
    ["items", "show", "docs-1"],
    ["items", "graph", "docs-1"],
    ["items", "graph", "docs-1", "--format", "dot"],
    ["vault", "read", "a.md"],
    ["vault", "search", "safe"],
    ["vault", "find", "safe"],
    ["manual", "toc", "book"],
    ["manual", "read", "book/a.md"],
    ["policy", "test", HOSTILE],
    ["journal", "tail"],
    ["journal", "tail", "--json"],
    ["export", "-"],
    ["import", "FOLDER"],
    ["items", "show", HOSTILE],
]


@pytest.fixture
def stored(run, home, tmp_path) -> Path:
    """A home in which everything is hostile, and a folder of notes that are."""
    manual = home / "workspace" / "manuals" / "book"
    manual.mkdir(parents=True)
    (manual / "a.md").write_text(f"# {HOSTILE}\n{HOSTILE}\n".replace("\r", ""), "utf-8")
    vault = home / "workspace" / "vault"
    vault.mkdir(parents=True)
    (vault / "a.md").write_text(f"# {HOSTILE}\n{HOSTILE}\n".replace("\r", ""), "utf-8")
    for module, tool, params in (
        ("memory", "save", {"content": HOSTILE, "title": HOSTILE, "metadata": {HOSTILE: HOSTILE}}),
        ("items", "create_item", {"type": "docs", "title": HOSTILE, "content": HOSTILE, "description": HOSTILE}),
    ):
        result = run("call", module, tool, json.dumps(params))
        assert result.exit_code == 0, result.output
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / f"{HOSTILE}.md").write_bytes(b"\x00\xff")
    return folder


def test_no_stored_text_steers_the_terminal(stored, environ):
    commands = [[str(stored) if word == "FOLDER" else word for word in words] for words in SHOWN]
    shown = show_at_terminal(commands, environ).replace("\r\n", "\n")
    assert not STEERING & set(shown)
    assert "\r" not in shown
    assert shown.count("safe") >= len(SHOWN)
    for visible in (r"\x1b]0;owned", r"\u001b]0;owned", r"\rOVER", r"\u202eevil", r"\x9b31m", r"\u009b31m"):
        assert visible in shown


def test_a_program_gets_json_with_the_same_values_and_files_as_they_are(stored, run, value):
    (memo,) = value("call", "memory", "list")["items"]
    assert memo["title"] == HOSTILE
    printed = run("call", "memory", "get", json.dumps({"memo_id": memo["memo_id"]})).stdout
    assert not STEERING & set(printed)
    assert run("vault", "read", "a.md").stdout == f"# {HOSTILE}\n{HOSTILE}\n".replace("\r", "")
    exported = run("export", "-").stdout
    assert not STEERING & set(exported)
    assert json.loads(exported.splitlines()[1])["content"] == HOSTILE


def test_a_cell_of_a_table_stays_on_its_line(capsys):
    print_table(("A", "B"), [("one\ntwo\x1b[1m", "x")])
    heading, row = capsys.readouterr().out.splitlines()
    assert row == r"one\ntwo\x1b[1m  x"
    assert heading.index("B") == row.index("x", 12)


def test_a_narrow_terminal_folds_cells_and_keeps_the_columns(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    print_table(("Name", "Text"), [("床の間", "a long text of several words"), ("x", "長い日本語の文も端末の幅で折る")])
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "Name    Text",
        "床の間  a long text of several",
        "        words",
        "x       長い日本語の文も端末の",
        "        幅で折る",
    ]
    assert max(map(measure_width, lines)) <= 30
    assert fit_widths([3, 200, 100], 40) == [3, 18, 18]
    assert fit_widths([30, 30], 4) == [8, 8]  # narrower than that, nothing can be read


def test_commands_print_in_one_place_only():
    """A call of click.echo or print elsewhere would pass by the escaping. `cli/__init__.py` starts without click."""
    found = [
        f"{file.relative_to(SOURCE)}:{node.lineno}"
        for file in sorted((SOURCE / "cli").rglob("*.py"))
        if file not in (SOURCE / "cli" / "output.py", SOURCE / "cli" / "__init__.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in PRINTING
    ]
    assert found == []


def test_nothing_writes_csv_yet():
    """Whoever adds it: a cell that begins with = + - @ or a tab is a formula to a spreadsheet, and must be escaped."""
    sources = [file.read_text("utf-8") for file in SOURCE.rglob("*.py")]
    assert any("csv.DictReader" in text or "csv.reader" in text for text in sources)
    assert not any("csv.writer" in text or "DictWriter" in text for text in sources)
