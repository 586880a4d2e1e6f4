"""Exports of the official memory server, of mcp-memory-service and of mem0."""

import json

import pytest
from transfer.reading import own_metadata, read

from tokonoma.core.errors import Invalid
from tokonoma.transfer.files import as_time

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


def write_lines(path, lines):
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
    return path


def test_entities_and_relations(tmp_path):
    told = read(write_lines(tmp_path / "memory.jsonl", LINES))
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


def write_json(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


SERVICE = {
    "export_metadata": {"source_machine": "desk", "total_memories": 3, "exporter_version": "6.2.4"},
    "memories": [
        {
            "content": "床の間の軸を掛け替えた",
            "content_hash": "aa11",
            "tags": ["tea", "home"],
            "memory_type": "note",
            "metadata": {"project": "house", "episode_id": "ep1", "quality_score": 0.5},
            "created_at": 1700000000.25,
            "updated_at": 1700000100.0,
            "export_source": "desk",
            "embedding": [0.1, 0.2],
        },
        {
            "content": "second",
            "content_hash": "bb22",
            "tags": "a, b",
            "memory_type": None,
            "metadata": {"preceding_memory_id": "aa11"},
            "created_at_iso": "2024-05-01T00:00:00Z",
        },
        {"content": "second", "content_hash": "bb22"},
        {"content": "  ", "content_hash": "cc33"},
        "not an object",
        {"content": "without a hash"},
    ],
}


def test_mcp_memory_service(tmp_path):
    told = read(write_json(tmp_path / "export.json", SERVICE))
    assert told.format == "mcp-memory-service"
    first, second = told.memos["aa11"], told.memos["bb22"]
    assert first.content == "床の間の軸を掛け替えた"
    assert (first.created_at, first.updated_at, first.thread) == (1700000000250, 1700000100000, "ep1")
    assert own_metadata(first) == {
        "project": "house", "episode_id": "ep1", "quality_score": 0.5, "memory_type": "note",
        "tags": ["tea", "home"], "export_source": "desk",
    }  # fmt: skip
    assert own_metadata(second) == {"preceding_memory_id": "aa11", "tags": ["a", "b"]}
    assert second.created_at == second.updated_at == as_time("2024-05-01")
    assert told.relations == [("bb22", "aa11", "follows")]
    assert len(told.memos) == 3
    assert [place for place, _ in told.lost] == ["export.json: [3]", "export.json: [4]"]
    assert [place for place, _ in told.notes] == ["export.json: [2]"]


def test_its_older_backups(tmp_path):
    about = {"content_hash": "dd44", "tags_str": "x,y", "type": "fact", "timestamp": 1600000000.0, "kept": True}
    backup = {"timestamp": "2024-01-01", "total_memories": 1, "memories": [
        {"id": "id1", "document": "old", "metadata": about, "embedding": None}
    ]}  # fmt: skip
    told = read(write_json(tmp_path / "backup.json", backup))
    assert told.format == "mcp-memory-service"
    assert told.memos["dd44"].created_at == 1600000000000
    assert own_metadata(told.memos["dd44"]) == {"kept": True, "memory_type": "fact", "tags": ["x", "y"]}


MEM0 = [
    {
        "id": "m1", "memory": "好物は抹茶", "hash": "h", "metadata": {"category": "food"}, "user_id": "hana",
        "run_id": "run-7", "created_at": "2024-07-20T01:30:36.275141-07:00", "updated_at": None, "score": 0.4,
        "categories": ["food", "tea"], "agent_id": None,
    },
    {"id": "m2", "memory": "old", "replaced_by": "m1", "created_at": "2024-07-19T00:00:00Z"},
    {"id": "m3", "memory": "gone", "expiration_date": "2020-01-01"},
    {"id": "m4", "memory": ""},
]  # fmt: skip


@pytest.mark.parametrize("shape", [lambda all: all, lambda all: {"results": all, "count": 4, "next": None}])
def test_mem0(tmp_path, shape):
    told = read(write_json(tmp_path / "mem0.json", shape(MEM0)))
    assert told.format == "mem0"
    first = told.memos["m1"]
    assert (first.content, first.thread) == ("好物は抹茶", "run-7")
    assert first.created_at == first.updated_at == as_time("2024-07-20T08:30:36.275Z")
    assert own_metadata(first) == {
        "category": "food", "user_id": "hana", "run_id": "run-7", "categories": ["food", "tea"]
    }  # fmt: skip
    assert told.relations == [("m2", "m1", "replaced_by")]
    assert told.lost == [("mem0.json: [2]", "It has expired."), ("mem0.json: [3]", "It contains no text.")]


def test_relations_between_names_are_reported(tmp_path):
    whole = {"results": MEM0[:1], "relations": [{"source": "hana", "relationship": "likes", "target": "tea"}]}
    assert read(write_json(tmp_path / "mem0.json", whole)).lost[0][0] == "mem0.json: relations"


@pytest.mark.parametrize("text", ["", "{", "nothing", "[1, 2", "\0\0\0", '{"a": 1}', "[]", "3"])
def test_what_is_none_of_them_is_refused(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(Invalid):
        read(path)


@pytest.mark.parametrize(("value", "kind"), [({"memories": []}, "mcp-memory-service"), ({"results": []}, "mem0")])
def test_an_export_of_nothing(tmp_path, value, kind):
    told = read(write_json(tmp_path / "x.json", value))
    assert (told.format, told.carried) == (kind, [])


@pytest.mark.parametrize("key", ["date", "happened_at", "occurred_at", "event_date"])
def test_the_date_of_a_memo_comes_from_its_metadata(tmp_path, key):
    about = {key: "2024-02-29"}
    service = {"export_metadata": {}, "memories": [{"content": "a", "content_hash": "h", "metadata": about}]}
    assert read(write_json(tmp_path / "export.json", service)).memos["h"].date == "2024-02-29"
    mem0 = [{"id": "m1", "memory": "a", "metadata": about, "created_at": "2024-07-20T00:00:00Z"}]
    assert read(write_json(tmp_path / "mem0.json", mem0)).memos["m1"].date == "2024-02-29"


def test_a_memo_without_such_a_key_has_no_date(tmp_path):
    mem0 = [{"id": "m1", "memory": "a", "metadata": {"date": "soon"}, "created_at": "2024-07-20T00:00:00Z"}]
    assert read(write_json(tmp_path / "mem0.json", mem0)).memos["m1"].date == ""
