"""`import` and `items import` obey the policy: a secret is refused, sealed or redacted, and the report says so."""

import json

import pytest

from tokonoma.app import App

SECRET = "AKIAQ3EGRT5ZL2PWX7VN"
MAIL = "zorgl.quux@example.org"
REDACTING = "version: 1\nwrites: { secret: redact, pii: redact }\n"


@pytest.fixture
def graph(tmp_path):
    """Entities of another program, one of them with a secret, and a relation with one."""
    file = tmp_path / "graph.jsonl"
    lines = [
        {"type": "entity", "name": "door", "entityType": "thing", "observations": ["is blue"]},
        {"type": "entity", "name": "cloud", "entityType": "thing", "observations": [f"its key is {SECRET}"]},
        {"type": "entity", "name": "people", "entityType": "list", "observations": [f"ask {MAIL}"]},
        {"type": "relation", "from": "door", "to": "people", "relationType": f"opened by {SECRET}"},
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    return str(file)


@pytest.fixture
def folder(tmp_path):
    """Two items, one of them with a secret."""
    folder = tmp_path / "items"
    folder.mkdir()
    (folder / "a.md").write_text("---\ntokonoma_item: 1\ntype: docs\ntitle: Door\n---\nis blue\n")
    (folder / "b.md").write_text(f"---\ntokonoma_item: 1\ntype: docs\ntitle: Cloud\n---\nkey {SECRET}, ask {MAIL}\n")
    return str(folder)


def stored(home, sql):
    app = App({"home": str(home), "durable": False}, {})
    try:
        app.registry.load_all()
        with app.database.reading() as rows:
            return rows.rows(sql)
    finally:
        app.close()


MEMOS = "select content, label from memo order by content"
RELATIONS = "select tag, reason, label from memo_relation"
ITEMS = "select title, content, label from item order by title"


def redact(run, tmp_path):
    policy = tmp_path / "policy.yaml"
    policy.write_text(REDACTING)
    assert run("policy", "apply", str(policy)).exit_code == 0


def test_memos_with_a_secret_are_refused_and_listed(run, home, graph):
    rehearsed = run("import", graph, "--dry-run", "--json")
    assert rehearsed.exit_code == 1
    done = run("import", graph)
    assert done.exit_code == 1
    assert SECRET not in done.output
    assert "2 saved" in done.stdout
    assert "graph.jsonl:2" in done.stdout
    assert (
        "The policy does not allow this to be stored: aws_access_key in content. Remove it there, or use --seal."
        in (done.stdout)
    )
    told = json.loads(rehearsed.stdout)
    assert [each["place"].rpartition(":")[2] for each in told["skipped"]] == ["2", "4"]
    assert all("aws_access_key" in each["why"] for each in told["skipped"])
    assert [content for content, _ in stored(home, MEMOS)] == [f"- ask {MAIL}", "- is blue"]
    assert stored(home, RELATIONS) == []


def test_sealed_memos_are_stored_hidden_and_reported(run, value, home, graph):
    done = run("import", graph, "--seal")
    assert done.exit_code == 0, done.output
    assert SECRET not in done.output
    assert "graph.jsonl:2: Sealed with the class secret, because of aws_access_key in content." in done.stdout
    assert ("- its key is " + SECRET, "secret") in stored(home, MEMOS)
    assert [label for *_, label in stored(home, RELATIONS)] == ["secret"]
    assert SECRET not in json.dumps(value("call", "memory", "list"))
    again = run("import", graph, "--seal")
    assert "3 unchanged" in again.stdout
    assert "Sealed" not in again.stdout, "nothing was stored"


def test_where_the_policy_redacts_an_import_redacts_and_says_so(run, home, graph, tmp_path):
    redact(run, tmp_path)
    done = run("import", graph)
    assert done.exit_code == 0, done.output
    assert "graph.jsonl:2: Redacted, as the policy says: aws_access_key." in done.stdout
    assert "graph.jsonl:3: Redacted, as the policy says: email." in done.stdout
    assert [content for content, _ in stored(home, MEMOS)] == [
        "- ask [masked:email]",
        "- is blue",
        "- its key is [masked:aws_access_key]",
    ]
    assert [tag for tag, *_ in stored(home, RELATIONS)] == ["opened by [masked:aws_access_key]"]
    assert "3 unchanged" in run("import", graph).stdout


def test_an_export_of_sealed_memos_needs_the_flag_again(run, home, graph, tmp_path):
    run("import", graph, "--seal")
    assert run("export", str(tmp_path / "all.jsonl")).exit_code == 0
    assert run("import", str(tmp_path / "all.jsonl")).exit_code == 0, "all of it is there already"
    other = {"TOKONOMA_HOME": str(tmp_path / "other")}
    refused = run("import", str(tmp_path / "all.jsonl"), **other)
    assert refused.exit_code == 1
    assert "aws_access_key" in refused.stdout
    assert run("import", str(tmp_path / "all.jsonl"), "--seal", **other).exit_code == 0
    assert stored(tmp_path / "other", MEMOS) == stored(home, MEMOS)


def test_memos_in_the_trash_get_their_class_too(run, home, tmp_path):
    run("call", "memory", "save", json.dumps({"content": f"ask {MAIL}"}))
    run("export", str(tmp_path / "all.jsonl"))
    lines = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    lines[1] |= {"boundary": "internal", "deleted_at": lines[1]["updated_at"]}
    (tmp_path / "trash.jsonl").write_text("\n".join(map(json.dumps, lines)))
    other = tmp_path / "other"
    assert run("import", str(tmp_path / "trash.jsonl"), TOKONOMA_HOME=str(other)).exit_code == 0
    assert [label for _, label in stored(other, MEMOS)] == ["pii"]


def test_items_with_a_secret_are_refused_sealed_or_redacted(run, home, folder, tmp_path):
    for words in (("--dry-run",), ()):
        refused = run("items", "import", folder, *words)
        assert refused.exit_code == 1
        assert "1 saved, 0 changed, 0 unchanged, 0 kept, 0 conflict, 1 skipped" in refused.stdout
        assert "b.md: The policy does not allow this to be stored: aws_access_key in content." in refused.stderr
        assert SECRET not in refused.output
    assert [title for title, *_ in stored(home, ITEMS)] == ["Door"]
    sealed = run("items", "import", folder, "--seal")
    assert sealed.exit_code == 0, sealed.output
    assert "b.md: Sealed with the class secret" in sealed.stderr
    assert [(title, label) for title, _, label in stored(home, ITEMS)] == [("Cloud", "secret"), ("Door", "internal")]
    assert "Cloud" not in run("items", "list").stdout


def test_items_are_redacted_where_the_policy_says_so(run, home, folder, tmp_path):
    redact(run, tmp_path)
    done = run("items", "import", folder)
    assert done.exit_code == 0, done.output
    assert "b.md: Redacted, as the policy says: aws_access_key, email." in done.stderr
    assert stored(home, ITEMS)[0][1] == "key [masked:aws_access_key], ask [masked:email]"


def test_a_relation_gets_the_class_of_what_it_says(run, home, tmp_path):
    lines = [
        {"type": "entity", "name": "door", "entityType": "thing", "observations": ["is blue"]},
        {"type": "entity", "name": "room", "entityType": "thing", "observations": ["is large"]},
        {"type": "relation", "from": "door", "to": "room", "relationType": f"see {MAIL}"},
    ]
    (tmp_path / "plain.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert run("import", str(tmp_path / "plain.jsonl")).exit_code == 0
    assert [label for *_, label in stored(home, RELATIONS)] == ["pii"]
