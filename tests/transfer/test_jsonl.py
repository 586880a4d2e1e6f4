"""Our own export as lines: what is wrong in one is said, and the rest is read."""

import json
import uuid

import pytest
from transfer.reading import read

from tokonoma.core.errors import Invalid
from tokonoma.transfer import jsonl
from tokonoma.transfer.model import MemoRecord, RelationRecord

ONE, TWO = (str(uuid.UUID(int=number)) for number in (1, 2))
MEMO = {
    "type": "memo",
    "memo_id": ONE,
    "namespace": "/a",
    "content": "x",
    "created_at": "2026-01-01T00:00:00.000Z",
    "version": 3,
}


def written(path, *lines, first=True, last=True):
    made = [jsonl.format_header()] if first else []
    made += [line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines]
    memos = sum(isinstance(line, dict) and line.get("type") == "memo" for line in lines)
    relations = sum(isinstance(line, dict) and line.get("type") == "relation" for line in lines)
    path.write_bytes(b"".join([*made, jsonl.format_footer(memos, relations) if last else b""]))
    return path


def test_what_is_written_is_read_again(tmp_path):
    memo = MemoRecord(ONE, "/a", "x", "t", {"k": [1, None]}, "th", 1, 2, 3, 4, 5, "pii")
    relation = RelationRecord("/a", ONE, TWO, "tag", 0.25, "why", 1, 2, 3)
    path = tmp_path / "x.jsonl"
    path.write_bytes(
        jsonl.format_header() + jsonl.format_record(memo) + jsonl.format_record(relation) + jsonl.format_footer(1, 1)
    )
    told = read(path)
    assert told.format == "tokonoma"
    assert [replaced(each) for each in told.carried] == [replaced(memo), replaced(relation)]
    below = read(path, namespace="/copy")
    assert [each.namespace for each in below.carried] == ["/copy/a", "/copy/a"]


def replaced(record):
    return {name: getattr(record, name) for name in record.__slots__ if name != "place"}


BAD = {
    "no id": {**MEMO, "memo_id": None},
    "no content": {**MEMO, "content": None},
    "content that is no text": {**MEMO, "content": 3},
    "metadata that is no object": {**MEMO, "metadata": [1]},
    "a time that is none": {**MEMO, "created_at": "soon"},
    "a time that is a number": {**MEMO, "updated_at": 5},
    "a version that is true": {**MEMO, "version": True},
    "a namespace above the root": {**MEMO, "namespace": "/../x"},
    "a control character in a namespace": {**MEMO, "namespace": "/a\nb"},
    "an unknown type": {"type": "thing"},
    "no type": {"a": 1},
    "a relation without a target": {"type": "relation", "source": ONE, "tag": "t"},
    "a weight that is text": {"type": "relation", "source": ONE, "target": TWO, "tag": "t", "weight": "1"},
    "no JSON": b"{broken\n",
    "no object": b"[1]\n",
    "no text": b"\xff\xff\0\n",
}


@pytest.mark.parametrize("line", BAD.values(), ids=BAD)
def test_a_bad_line_is_named_and_the_rest_is_read(tmp_path, line):
    told = read(written(tmp_path / "x.jsonl", line, {**MEMO, "memo_id": TWO}), "tokonoma")
    assert list(told.memos) == [TWO]
    assert [place for place, _ in told.lost] == ["x.jsonl:2"]


def test_a_file_that_was_cut_off_is_noticed(tmp_path):
    told = read(written(tmp_path / "x.jsonl", MEMO, last=False))
    assert list(told.memos) == [ONE]
    assert "last line is missing" in told.lost[0][1]


def test_a_file_that_lost_a_line_is_noticed(tmp_path):
    path = written(tmp_path / "x.jsonl", MEMO)
    path.write_bytes(path.read_bytes().replace(b'"memos":1', b'"memos":2'))
    assert "had 2 memos, but 1 lines were found" in read(path).lost[0][1]


def test_an_unknown_field_is_said(tmp_path):
    told = read(written(tmp_path / "x.jsonl", {**MEMO, "colour": "red"}))
    assert list(told.memos) == [ONE]
    assert "colour" in told.notes[0][1]


def test_a_newer_format_is_refused(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"type":"tokonoma","format":2}\n')
    with pytest.raises(Invalid, match="Update it"):
        read(path)


def test_a_line_too_long_is_skipped(tmp_path, monkeypatch):
    monkeypatch.setattr("tokonoma.transfer.files.MAX_LINE_BYTES", 1000)
    told = read(written(tmp_path / "x.jsonl", {**MEMO, "content": "x" * 5000}, {**MEMO, "memo_id": TWO}), "tokonoma")
    assert list(told.memos) == [TWO]
    assert told.lost[0][0] == "x.jsonl:2"


def test_a_part_without_the_first_line_is_ours_too(tmp_path):
    assert read(written(tmp_path / "x.jsonl", MEMO, first=False)).format == "tokonoma"
