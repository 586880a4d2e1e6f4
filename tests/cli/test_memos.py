"""`export` and `import` as commands: what they print, where it goes, how they end."""

import json
import os
import stat

import pytest

from tokonoma.cli import vectors

pytestmark = pytest.mark.migrated


@pytest.fixture
def vault(tmp_path):
    root = tmp_path / "Work"
    (root / "notes").mkdir(parents=True)
    (root / "Home.md").write_text("---\ntags: [start]\n---\nSee [[Tea]] and [[Nobody]].\n")
    (root / "notes" / "Tea.md").write_text("# 茶\n抹茶\n", encoding="utf-8")
    return root


@pytest.fixture
def memos(value):
    """Two memos that are related, and one in the trash."""
    saved = value(
        "call",
        "memory",
        "save",
        '{"memos": [{"content": "一"}, {"content": "two", "namespace": "n"}, {"content": "gone"}]}',
    )
    ids = [each["memo_id"] for each in saved["items"]]
    value("call", "memory", "relation.save", json.dumps({"sourceMemoId": ids[0], "targetMemoId": ids[1], "tag": "t"}))
    value("call", "memory", "delete", json.dumps({"memo_id": ids[2]}))
    return ids


def test_import_sums_up_on_stdout(run, vault):
    first = run("import", str(vault))
    assert first.exit_code == 0, first.output
    assert first.stderr == "Vectors still to be made: 2. A running server makes them, or the next search.\n"
    assert first.stdout == (
        f"Imported from {vault} (obsidian) into /:\n"
        "  memos      2 saved, 0 changed, 0 unchanged\n"
        "  relations  1 saved, 0 changed, 0 unchanged\n"
        "Notes (1):\n"
        "  Home.md:4: The link to 'Nobody' leads to no note; it was saved in metadata.missing_links.\n"
    )
    again = run("import", str(vault))
    assert "  memos      0 saved, 0 changed, 2 unchanged\n" in again.stdout


def test_import_as_json_into_a_namespace(value, vault):
    told = value("import", str(vault), "--namespace", "vaults/work", "--json")
    assert told["namespace"] == "/vaults/work"
    assert told["memos"] == {"saved": 2, "changed": 0, "unchanged": 0, "kept": 0, "skipped": 0}
    assert told["skipped"] == []
    assert [each["place"] for each in told["notes"]] == ["Home.md:4"]
    spaces = {each["namespace"] for each in value("call", "memory", "namespaces")["items"]}
    assert spaces == {"/vaults/work", "/vaults/work/notes"}


def test_something_that_cannot_be_taken_in_ends_with_1(run, vault):
    (vault / "picture.md").write_bytes(b"\x89PNG\0")
    result = run("import", str(vault))
    assert result.exit_code == 1
    assert "2 saved" in result.stdout
    assert "Skipped (1):\n  picture.md: It is not text (it contains NUL bytes)." in result.stdout


def test_a_dry_run_changes_nothing(run, value, vault):
    result = run("import", str(vault), "--dry-run")
    assert result.stdout.startswith("Would import from ")
    assert "2 saved" in result.stdout
    assert value("call", "memory", "list")["items"] == []


def test_many_remarks_are_counted(run, vault):
    (vault / "Links.md").write_text("\n".join(f"[[x{number}]]" for number in range(60)))
    told = run("import", str(vault)).stdout
    assert "Notes (61):" in told
    assert "… and 11 more; --json lists all" in told


def test_there_and_back_through_a_pipe(run, value, memos, tmp_path):
    out = run("export", "-")
    assert out.exit_code == 0
    assert out.stderr == "Exported 2 memos and 1 relation.\n"
    kinds = [json.loads(line)["type"] for line in out.stdout.splitlines()]
    assert kinds == ["tokonoma", "memo", "memo", "relation", "end"]
    other = {"TOKONOMA_HOME": str(tmp_path / "other")}
    back = run("import", "-", stdin=out.stdout, **other)
    assert back.exit_code == 0, back.output
    assert run("export", "-", **other).stdout.splitlines()[1:] == out.stdout.splitlines()[1:]


def test_the_trash_comes_along_when_asked(run, memos, tmp_path):
    run("export", str(tmp_path / "all.jsonl"), "--trash")
    run("export", str(tmp_path / "n.jsonl"), "--namespace", "n")
    counts = [json.loads((tmp_path / name).read_text().splitlines()[-1]) for name in ("all.jsonl", "n.jsonl")]
    assert [(each["memos"], each["relations"]) for each in counts] == [(3, 1), (1, 0)]


def test_export_to_a_folder(run, memos, tmp_path):
    target = tmp_path / "deep" / "kept"
    result = run("export", str(target), "--format", "markdown")
    assert result.stderr == f"Exported 2 memos and 1 relation to {target}.\n"
    assert sorted(str(path.relative_to(target)) for path in target.rglob("*.md")) == ["n/two.md", "一.md"]
    text = (target / "一.md").read_text()
    assert text.startswith("---\ntokonoma: 1\nid: ")
    assert text.endswith(f"\n\n- t [{memos[1]}](tokonoma://memory/{memos[1]}) (1)\n")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_exports_are_readable_by_their_owner_alone(run, memos, tmp_path):
    run("export", str(tmp_path / "x.jsonl"))
    run("export", str(tmp_path / "x"), "--format", "markdown")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("x.jsonl", "x", "x/n", "x/n/two.md")]
    assert modes == [0o600, 0o700, 0o700, 0o600]


def test_an_edited_file_is_taken_in_as_a_new_version(run, value, memos, tmp_path):
    target = tmp_path / "kept"
    run("export", str(target), "--format", "markdown")
    file = target / "n" / "two.md"
    file.write_text(file.read_text().replace("\ntwo\n", "\nzwei\n"))
    assert "1 changed, 1 unchanged" in run("import", str(target)).stdout
    read = value("call", "memory", "get", json.dumps({"memo_id": memos[1]}))
    assert (read["content"], read["version"]) == ("zwei", 2)
    assert "0 changed, 2 unchanged" in run("import", str(target)).stdout


def test_nothing_is_overwritten(run, memos, tmp_path):
    file, folder = tmp_path / "x.jsonl", tmp_path / "folder"
    file.write_text("mine")
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    for words in (
        (str(file),),
        (str(folder),),
        (str(folder), "--format", "markdown"),
        (str(file), "--format", "markdown"),
    ):
        result = run("export", *words)
        assert result.exit_code == 1
        assert "Choose another name" in result.stderr
    assert file.read_text() == "mine"
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]


def test_a_folder_with_hidden_things_is_empty_enough(run, memos, tmp_path):
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    assert run("export", str(tmp_path / "repository"), "--format", "markdown").exit_code == 0


def test_an_export_that_fails_leaves_no_file(run, memos, tmp_path):
    result = run("export", str(tmp_path / "x.jsonl"), "--modules-off", "memory")
    assert result.exit_code == 1
    assert "switched off" in result.stderr
    assert [path.name for path in tmp_path.glob("*x.jsonl*")] == []


def test_mistakes_in_the_command(run, tmp_path, memos):
    (tmp_path / "empty").mkdir()
    (tmp_path / "x.bin").write_bytes(bytes(range(256)))
    cases = [
        (("import", str(tmp_path / "nothing")), 1, "There is no file or folder"),
        (("import", str(tmp_path / "empty")), 1, "There is no Markdown file"),
        (("import", str(tmp_path / "x.bin")), 1, "It is not text"),
        (("import", "/dev/null"), 1, "neither a file nor a folder"),
        (("import", str(tmp_path), "--from", "mem0"), 1, "which is a file"),
        (("import", str(tmp_path / "x.bin"), "--from", "obsidian"), 1, "which is a folder"),
        (("import", str(tmp_path), "--from", "notes"), 2, "--from"),
        (("import", str(tmp_path), "--namespace", "../x"), 1, "above the root"),
        (("export", "-", "--format", "markdown"), 2, "needs a folder"),
        (("export", str(tmp_path / "x"), "--namespace", "/.."), 1, "above the root"),
    ]
    for words, code, says in cases:
        result = run(*words)
        assert (result.exit_code, says in result.stderr) == (code, True), (words, result.output)


def test_without_a_store_there_is_nothing_to_export(run, home):
    result = run("export", "-")
    assert result.exit_code == 1
    assert "nothing to export" in result.stderr
    assert not home.exists()


def test_two_folders_with_the_same_names_do_not_meet(run, value, vault, tmp_path):
    other = tmp_path / "Private"
    (other / "notes").mkdir(parents=True)
    (other / "Home.md").write_text("another home")
    run("import", str(vault))
    assert "1 saved" in run("import", str(other)).stdout
    assert "1 changed" in run("import", str(other), "--source-name", "Work").stdout
    assert len(value("call", "memory", "list")["items"]) == 3


def test_a_limit_that_is_set_is_waited_for(run, tmp_path):
    lines = "\n".join(
        json.dumps({"type": "entity", "name": f"e{number}", "entityType": "t", "observations": []})
        for number in range(1200)
    )
    (tmp_path / "memory.jsonl").write_text(lines)
    result = run("import", str(tmp_path / "memory.jsonl"), "--rate-limit", "2/second")
    assert "1200 saved" in result.stdout, result.output


def test_ctrl_c_ends_it_with_a_summary_and_importing_again_goes_on(run, tmp_path, monkeypatch):
    """The signal comes while the second batch is being read."""
    from tokonoma.transfer import memory_servers

    lines = (json.dumps({"type": "entity", "name": f"e{number}", "entityType": "t"}) for number in range(700))
    (tmp_path / "memory.jsonl").write_text("\n".join(lines))
    whole = memory_servers.fit_memo

    def interrupted(memo):
        if memo.title == "e600":
            raise KeyboardInterrupt
        return whole(memo)

    monkeypatch.setattr(memory_servers, "fit_memo", interrupted)
    stopped = run("import", str(tmp_path / "memory.jsonl"))
    assert stopped.exit_code == 130
    assert "500 saved" in stopped.stdout
    assert "Interrupted. What is counted above was saved. Run the import again to continue." in stopped.stderr
    monkeypatch.undo()
    assert "200 saved, 0 changed, 500 unchanged" in run("import", str(tmp_path / "memory.jsonl")).stdout


def test_on_postgres(run, value, environ, postgres_at, vault, tmp_path):
    environ["TOKONOMA_DATABASE_URL"] = postgres_at
    assert "2 saved" in run("import", str(vault)).stdout
    assert "2 unchanged" in run("import", str(vault)).stdout
    out = run("export", "-")
    assert out.exit_code == 0
    home = {"TOKONOMA_HOME": str(tmp_path / "other"), "TOKONOMA_DATABASE_URL": None}
    assert run("import", "-", stdin=out.stdout, **home).exit_code == 0
    assert run("export", "-", **home).stdout.splitlines()[1:] == out.stdout.splitlines()[1:]


def test_import_waits_for_the_vectors_if_asked(run, value, vault):
    told = run("import", str(vault), "--wait")
    assert (told.exit_code, told.stderr) == (0, "")
    (vectors,) = value("call", "system", "status")["vectors"]
    assert (vectors["made"], vectors["waiting"]) == (2, 0)
    assert value("import", str(vault), "--json")["vectors_waiting"] == 0


def test_waiting_without_a_model_says_what_to_set(run, vault):
    told = run("import", str(vault), "--wait", TOKONOMA_EMBED_PROVIDER="none")
    assert told.exit_code == 1
    assert "embed_provider" in told.stderr


def test_waiting_can_be_interrupted_and_nothing_is_lost(run, value, vault, monkeypatch):
    def interrupt(_app):
        raise KeyboardInterrupt

    monkeypatch.setattr(vectors, "count_queued", interrupt)
    told = run("import", str(vault), "--wait")
    assert told.exit_code == 130
    assert "everything is saved" in told.stderr
    monkeypatch.undo()
    assert len(value("call", "memory", "list")["items"]) == 2
