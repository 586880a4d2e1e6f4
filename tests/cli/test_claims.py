"""`tokonoma claims export` and `import`: everything that belongs to a claim goes there and back, on both databases."""

import json

import pytest
from talk import Lines

from tokonoma.app import App

pytestmark = pytest.mark.migrated

AT = "2026-01-15T09:00:00Z"
SECRET = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def here(home, database_url):
    """A tool of claims, on this database."""
    app = App({"home": str(home), "database_url": database_url, "durable": False}, {})
    talk = Lines(app)
    yield lambda tool, **params: talk.call("claims", tool, **params)["data"]
    app.close()


def actor(entity_id, name, **more):
    return {"id": entity_id, "type": "Actor", "name": name, **more}


@pytest.fixture
def stored(here):
    """Claims with all that may belong to one: sources, entities, relations, feedback, a successor."""
    first = here(
        "upsert", text="利休は紹鷗に学んだ", scope="project",
        entities=[actor("a", "紹鷗", attrs={"n": 1}), actor("b", "利休")],
        provenance={"at": AT, "git": {"commit": "abc1234", "repo": "tea"}, "note": "読んだ", "signed": True},
        relations=[{"id": "r", "src_id": "b", "dst_id": "a", "type": "pupil_of", "props": {"sure": True}}],
    )["id"]  # fmt: skip
    here("upsert", text="利休は紹鷗に学んだ", scope="project", provenance={"at": AT, "url": "https://example.org"})
    old = here("upsert", text="集合は九時", scope="principle", kind="task", provenance={"at": AT})["id"]
    new = here("upsert", text="集合は十時", scope="principle", boundary_class="public", provenance={"at": AT})["id"]
    here("supersede", claim_id=old, by=new)
    here("feedback", claim_id=first, signal="helpful", score=0.5)
    here("feedback", claim_id=first, signal="outdated")
    # The relation of this one leads to entities of another claim.
    taught = {"id": "s", "src_id": "a", "dst_id": "b", "type": "taught"}
    here("upsert", text="利休の師は紹鷗", provenance={}, relations=[taught])
    gone = here("upsert", text="忘れる", provenance={})["id"]
    here("forget", claim_id=gone)
    return {"first": first, "old": old, "new": new, "gone": gone}


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_claims_go_there_and_back_exactly_and_again_changes_nothing(run, database_url, stored, tmp_path):
    exported, back = tmp_path / "claims.jsonl", tmp_path / "back.jsonl"
    assert "Exported 4 claims" in run("claims", "export", str(exported), TOKONOMA_DATABASE_URL=database_url).stderr
    header, *claims, footer = lines(exported)
    assert (header["type"], header["format"], footer) == ("tokonoma-claims", 1, {"type": "end", "claims": 4})
    assert stored["gone"] not in exported.read_text()
    one = next(each for each in claims if each["claim_id"] == stored["first"])
    assert [each["source_type"] for each in one["evidences"]] == ["git", "url"]
    assert [(each["signal"], each["score"]) for each in one["feedback"]] == [("helpful", 0.5), ("outdated", 1.0)]
    assert [each["what"] for each in one["events"]] == ["made", "feedback", "feedback"]
    assert one["entities"][0]["attrs"] == {"n": 1}

    other = {"TOKONOMA_HOME": str(tmp_path / "other")}  # always SQLite: an export fits either database
    rehearsed = run("claims", "import", str(exported), "--dry-run", **other)
    assert "Would import" in rehearsed.stdout
    assert "4 saved, 0 changed, 0 unchanged, 0 kept, 0 skipped" in rehearsed.stdout
    imported = run("claims", "import", str(exported), **other)
    assert imported.exit_code == 0, imported.output
    assert "4 saved, 0 changed, 0 unchanged, 0 kept, 0 skipped\nRelations: 2 saved, 0 unchanged" in imported.stdout
    run("claims", "export", str(back), **other)
    assert lines(back)[1:] == lines(exported)[1:]

    again = json.loads(run("claims", "import", str(exported), "--json", **other).stdout)
    assert again["claims"] == {"saved": 0, "changed": 0, "unchanged": 4, "kept": 0, "skipped": 0}
    assert again["relations"] == {"saved": 0, "unchanged": 2}
    assert again["remarks"] == []
    itself = json.loads(
        run("claims", "import", "-", "--json", stdin=exported.read_text(), TOKONOMA_DATABASE_URL=database_url).stdout
    )
    assert (itself["claims"]["unchanged"], itself["relations"]["unchanged"], itself["remarks"]) == (4, 2, [])


def test_imported_claims_are_recalled_walked_and_superseded_as_before(run, here, stored, tmp_path, database_url):
    exported = tmp_path / "claims.jsonl"
    run("claims", "export", str(exported), TOKONOMA_DATABASE_URL=database_url)
    other = {"TOKONOMA_HOME": str(tmp_path / "other")}
    run("claims", "import", str(exported), **other)

    def there(tool, **params):
        return json.loads(run("call", "claims", tool, json.dumps(params), **other).stdout)["data"]

    assert there("get", claim_id=stored["first"]) == here("get", claim_id=stored["first"])
    assert there("history", claim_id=stored["first"]) == here("history", claim_id=stored["first"])
    assert [item["claim"]["id"] for item in there("search", query="集合は")["items"]] == [stored["new"]]
    assert there("related", entity="利休") == here("related", entity="利休")


def test_an_import_adds_what_is_missing_and_keeps_what_is_newer(run, here, stored, tmp_path, database_url):
    at = {"TOKONOMA_DATABASE_URL": database_url}
    older, newer = tmp_path / "older.jsonl", tmp_path / "newer.jsonl"
    run("claims", "export", str(older), **at)
    other = {"TOKONOMA_HOME": str(tmp_path / "other")}
    run("claims", "import", str(older), **other)
    here("upsert", text="利休は紹鷗に学んだ", scope="project", provenance={"at": AT, "actor": "me"})
    here("feedback", claim_id=stored["new"], signal="helpful")
    run("claims", "export", str(newer), **at)
    told = json.loads(run("claims", "import", str(newer), "--json", **other).stdout)
    assert (told["claims"]["changed"], told["claims"]["unchanged"]) == (2, 2)
    back = tmp_path / "back.jsonl"
    run("claims", "export", str(back), **other)
    assert lines(back)[1:] == lines(newer)[1:]
    told = json.loads(run("claims", "import", str(older), "--json", **other).stdout)
    assert (told["claims"]["kept"], told["claims"]["unchanged"]) == (1, 3)
    here("forget", claim_id=stored["first"])
    told = json.loads(run("claims", "import", str(newer), "--json", **at).stdout)
    assert [each["why"] for each in told["remarks"]] == ["It was forgotten here."]


def test_the_same_content_under_another_id_is_one_claim(run, stored, tmp_path, database_url):
    exported = tmp_path / "claims.jsonl"
    run("claims", "export", str(exported), TOKONOMA_DATABASE_URL=database_url)
    other = {"TOKONOMA_HOME": str(tmp_path / "other")}
    said = {"text": "利休は紹鷗に学んだ", "scope": "project", "provenance": {"at": AT, "actor": "other"}}
    mine = json.loads(run("call", "claims", "upsert", json.dumps(said), **other).stdout)["data"]["id"]
    told = json.loads(run("claims", "import", str(exported), "--json", **other).stdout)
    assert (told["claims"]["changed"], told["claims"]["saved"], told["relations"]["saved"]) == (1, 3, 2)
    assert [each["why"] for each in told["remarks"]] == [f"The same claim is stored as {mine}."]
    got = json.loads(run("call", "claims", "get", json.dumps({"claim_id": mine}), **other).stdout)["data"]
    assert {each["source_type"] for each in got["evidences"]} == {"actor", "git", "url"}
    assert got["utility"] == 0
    assert json.loads(run("claims", "import", str(exported), "--json", **other).stdout)["claims"]["unchanged"] == 4


def test_what_cannot_be_imported_is_reported(run, stored, tmp_path, database_url):
    exported, broken = tmp_path / "claims.jsonl", tmp_path / "broken.jsonl"
    run("claims", "export", str(exported), TOKONOMA_DATABASE_URL=database_url)
    header, *claims, _ = lines(exported)
    first, old = ({**each} for each in claims if each["claim_id"] in (stored["first"], stored["old"]))
    cases = [
        {**first, "kind": "rumour"},
        {**first, "claim_id": "clm_2", "created_at": "soon"},
        {**first, "claim_id": "clm_3", "text": f"use {SECRET}", "relations": [
            {"id": "r", "src_id": "b", "dst_id": "nobody", "type": "t"}]},
        old,
        {"type": "rumour"},
    ]  # fmt: skip
    broken.write_text("\n".join(json.dumps(each) for each in (header, *cases)))
    other = {"TOKONOMA_HOME": str(tmp_path / "other")}
    refused = json.loads(run("claims", "import", str(broken), "--dry-run", "--json", **other).stdout)
    assert (refused["claims"]["saved"], refused["claims"]["skipped"]) == (1, 3)
    done = run("claims", "import", str(broken), "--seal", "--json", **other)
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert (told["claims"]["saved"], told["claims"]["skipped"]) == (2, 2)
    remarks = "\n".join(f"{each['place']} {each['why']}" for each in told["remarks"])
    for expected in ("broken.jsonl:2 ", "broken.jsonl:3 One of its times", "broken.jsonl:4 Sealed with the class",
                     "broken.jsonl:4 The relation 'r' needs the entity 'nobody'", "broken.jsonl:5 Its successor",
                     "broken.jsonl:6 'rumour'", "The last line is missing"):  # fmt: skip
        assert expected in remarks
    assert SECRET not in done.output
    found = json.loads(run("call", "claims", "list", "{}", **other).stdout)["data"]["items"]
    assert [each["id"] for each in found] == [stored["old"]]  # the secret is sealed, and the successor did not come
    assert run("claims", "import", str(tmp_path / "nothing"), **other).exit_code == 1
    assert run("claims", "export", str(exported), **other).exit_code == 1  # never overwritten
