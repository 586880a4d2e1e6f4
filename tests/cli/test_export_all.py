"""`export --all` and `import`: an empty home that imports it answers as the first one did."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import Run
from transfer.apps import open_app
from transfer.sync.homes import Editors, list_items, list_memos, list_relations

from tokonoma.app import App
from tokonoma.cli.call import call_tool

Homes = tuple[Path, Path]


def fill(folder: Path) -> None:
    with open_app(folder) as app:
        editors = Editors([app], folder, 11)
        for _ in range(50):
            editors.edit(app)
        editors.delete(app)
        call_tool(app, "items", "update_current_state", content="one", tags=["a"])
        call_tool(app, "items", "update_current_state", content="two")
        call_tool(app, "items", "delete_item", type="task", id=1)
        call_tool(app, "vault", "vault_create", path="notes.md", content="# Notes\n")


def answer(app: App) -> dict[str, Any]:
    """What the tools of all modules say about everything that is there."""
    memos, items = list_memos(app), list_items(app)
    told: dict[str, Any] = {"memos": memos, "relations": list_relations(app), "items": items}
    for memo in memos:
        if memo["deleted_at"] is None:
            told[memo["memo_id"]] = call_tool(app, "memory", "get", memo_id=memo["memo_id"])
    for item in items:
        if item["deleted_at"] is None:
            told[item["uid"]] = call_tool(app, "items", "get_item_detail", type=item["type"], id=item["id"])
    claims = call_tool(app, "claims", "list")["data"]["items"]
    told["claims"] = [call_tool(app, "claims", "get", claim_id=each["id"])["data"] for each in claims]
    told["states"] = [call_tool(app, "items", "get_current_state", revision=number) for number in (1, 2)]
    told["spaces"] = call_tool(app, "memory", "namespaces")
    told["tags"] = call_tool(app, "items", "get_tags")
    told["found"] = call_tool(app, "memory", "search", query="t1x", mode="text")
    return told


@pytest.fixture
def homes(tmp_path: Path) -> Homes:
    fill(tmp_path / "first")
    return tmp_path / "first", tmp_path / "second"


def test_there_and_back(homes: Homes, run: Run, tmp_path: Path) -> None:
    first, second = homes
    target = str(tmp_path / "export")
    done = run("export", target, "--all", "--files", TOKONOMA_HOME=str(first))
    assert done.exit_code == 0, done.output
    names = {path.name for path in (tmp_path / "export").iterdir()}
    assert names == {"tokonoma.json", "memory.jsonl", "items.jsonl", "claims.jsonl", "vault"}
    rehearsed = run("import", target, "--dry-run", TOKONOMA_HOME=str(second))
    assert rehearsed.exit_code == 0, rehearsed.output
    done = run("import", target, TOKONOMA_HOME=str(second))
    assert done.exit_code == 0, done.output
    with open_app(first) as one, open_app(second) as other:
        assert answer(other) == answer(one)
        assert "# Notes" in json.dumps(call_tool(other, "vault", "vault_read", path="notes.md", full=True))
    again = run("import", target, "--json", TOKONOMA_HOME=str(second))
    told = json.loads(again.stdout)
    for name in ("memos", "relations", "items", "states", "claims", "files"):
        assert not {outcome for outcome, number in told[name].items() if number} - {"unchanged"}, (name, told[name])


def test_a_changed_or_missing_file_is_noticed_before_anything_is_imported(
    homes: Homes,
    run: Run,
    tmp_path: Path,
) -> None:
    first, second = homes
    folder = tmp_path / "export"
    assert run("export", str(folder), "--all", TOKONOMA_HOME=str(first)).exit_code == 0
    assert run("export", str(folder), "--all", TOKONOMA_HOME=str(first)).exit_code == 1
    whole = (folder / "claims.jsonl").read_bytes()
    for text in (whole + b"\n", None):
        if text is None:
            (folder / "claims.jsonl").unlink()
        else:
            (folder / "claims.jsonl").write_bytes(text)
        refused = run("import", str(folder), TOKONOMA_HOME=str(second))
        assert refused.exit_code == 1
        assert "Nothing was imported" in refused.output
    manifest = json.loads((folder / "tokonoma.json").read_text())
    manifest["files"] = [{**manifest["files"][0], "path": "../first/tokonoma.db"}]
    (folder / "tokonoma.json").write_text(json.dumps(manifest))
    assert "outside of the export" in run("import", str(folder), TOKONOMA_HOME=str(second)).output
    with open_app(second) as app:
        assert list_memos(app) == []


def test_a_file_of_the_vault_that_differs_stays(homes: Homes, run: Run, tmp_path: Path) -> None:
    first, second = homes
    with open_app(second) as app:
        call_tool(app, "vault", "vault_create", path="notes.md", content="mine\n")
    folder = str(tmp_path / "export")
    assert run("export", folder, "--all", "--files", TOKONOMA_HOME=str(first)).exit_code == 0
    done = run("import", folder, TOKONOMA_HOME=str(second))
    assert "Another file of this name is here; it stays." in done.output
    with open_app(second) as app:
        assert "mine" in json.dumps(call_tool(app, "vault", "vault_read", path="notes.md", full=True))
