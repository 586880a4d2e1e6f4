"""The official memory server's knowledge graph."""

import json

from transfer.reading import own_metadata, read

LINES = [
    {"type": "entity", "name": "Hana", "entityType": "person", "observations": ["likes tea", "two\nlines"]},
    {"type": "entity", "name": "京都", "entityType": "city", "observations": []},
    {"type": "relation", "from": "Hana", "to": "京都", "relationType": "lives_in"},
    {"type": "relation", "from": "Hana", "to": "Nara", "relationType": "was_born_in"},
    {"type": "relation", "from": "Osaka", "to": "京都", "relationType": "is_near"},
    {"type": "relation", "from": "Nobody", "to": "Nowhere", "relationType": "goes"},
    {"type": "relation", "from": "Hana", "to": "Hana", "relationType": "knows"},
    {"type": "relation", "from": "Hana", "to": "京都", "relationType": "x" * 100},
    {"type": "entity", "name": "Hana", "entityType": "person", "observations": ["likes tea", "paints"]},
    {"type": "thing"},
    {"type": "entity", "entityType": "no name", "observations": []},
]


def written(path, lines):
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
    return path


def test_entities_and_relations(tmp_path):
    told = read(written(tmp_path / "memory.jsonl", LINES))
    assert told.format == "mcp-memory"
    assert set(told.memos) == {"Hana", "京都"}
    hana = told.memos["Hana"]
    assert (hana.title, hana.namespace) == ("Hana", "/")
    assert hana.content == "- likes tea\n- two\n  lines\n- paints"
    assert own_metadata(hana) == {
        "entity_type": "person",
        "missing_links": [{"target": "Nara", "tag": "was_born_in"}, {"target": "Hana", "tag": "knows"}],
    }
    assert told.memos["京都"].content == "京都"
    assert told.memos["京都"].metadata["missing_links"] == [{"source": "Osaka", "tag": "is_near"}]
    assert told.relations == [("Hana", "京都", "lives_in"), ("Hana", "京都", "x" * 64)]
    assert told.carried[-1].reason == "x" * 100
    assert [place for place, _ in told.lost] == ["memory.jsonl:10", "memory.jsonl:11", "memory.jsonl:6"]


def test_lines_that_are_broken_are_named_and_the_rest_goes_on(tmp_path):
    path = tmp_path / "memory.jsonl"
    good = json.dumps(LINES[0]).encode()
    path.write_bytes(b"\n".join([good, b"{broken", b"[1]", b"\xff\xff\0", b"", json.dumps(LINES[1]).encode()]))
    told = read(path)
    assert set(told.memos) == {"Hana", "京都"}
    assert [place for place, _ in told.lost] == ["memory.jsonl:2", "memory.jsonl:3", "memory.jsonl:4"]


def test_the_answer_of_read_graph(tmp_path):
    path = tmp_path / "graph.json"
    whole = {
        "entities": [{**LINES[0], "extra": 1}, 3],
        "relations": [{"from": "Hana", "to": "Hana2", "relationType": "r"}],
    }
    path.write_text(json.dumps(whole, indent=2))
    told = read(path)
    assert told.format == "mcp-memory"
    assert told.memos["Hana"].metadata["extra"] == 1
    assert told.lost == [("graph.json: entities[1]", "The entity has no name.")]


def test_a_file_of_powershell(tmp_path):
    path = tmp_path / "memory.jsonl"
    text = "\r\n".join(json.dumps(line, ensure_ascii=False) for line in LINES[:3])
    path.write_bytes(b"\xff\xfe" + text.encode("utf-16-le"))
    assert read(path).relations == [("Hana", "京都", "lives_in")]
