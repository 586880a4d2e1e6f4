"""Batches: memos before the relations between them, none too large, and a rehearsal that writes nothing."""

import uuid

from transfer.apps import lines, open_app, put, take
from transfer.reading import files

from tokonoma.transfer import jsonl
from tokonoma.transfer.importer import Importer
from tokonoma.transfer.model import MemoRecord, RelationRecord, Remark


def memo(number, size=1):
    return MemoRecord(str(uuid.UUID(int=number + 1)), "/", "x" * size)


def sent(carried):
    batches = []

    def send(memos, relations, coming):
        batches.append((len(memos), len(relations)))
        return {"memos": [{"outcome": "saved"}] * len(memos), "relations": [{"outcome": "saved"}] * len(relations)}

    shipment = Importer(send, lambda tally: None)
    shipment.run(carried)
    return batches, shipment.tally


def test_batches_are_bounded_and_in_order():
    bond = RelationRecord("/", memo(0).memo_id, memo(1).memo_id, "t")
    carried = [*(memo(number) for number in range(1100)), *[bond] * 1500, memo(5), Remark("x", "why")]
    batches, tally = sent(carried)
    assert batches == [(500, 0), (500, 0), (100, 0), (0, 1000), (0, 500), (1, 0)]
    assert (tally.memos["saved"], tally.relations["saved"]) == (1101, 1500)
    assert [each.why for each in tally.skipped.items] == ["why"]


def test_large_memos_go_in_few():
    batches, _ = sent(memo(number, 1_000_000) for number in range(9))
    assert batches == [(4, 0), (4, 0), (1, 0)]


def test_remarks_are_bounded_but_counted():
    _, tally = sent(Remark(str(number), "why") for number in range(10_500))
    assert (tally.skipped.total, len(tally.skipped.items)) == (10_500, 10_000)


def test_a_rehearsal_says_what_would_happen_and_writes_nothing(tmp_path, database_url):
    vault = files(tmp_path / "vault", a="[[b]]", b="[[a]] [[c]]", c="x")
    with open_app(tmp_path / "home", database_url) as app:
        would = take(app, vault, dry_run=True)
        assert lines(app) == []
        did = take(app, vault)
        assert (would.memos, would.relations) == (did.memos, did.relations) == ({"saved": 3}, {"saved": 3})
        again = take(app, vault, dry_run=True)
        assert (again.memos, again.relations) == ({"unchanged": 3}, {"unchanged": 3})


def test_one_that_the_store_refuses_does_not_hold_up_its_batch(tmp_path, postgres_at):
    texts = ["a\0b" if number in (3, 77) else "x" for number in range(90)]
    memos = [MemoRecord(str(uuid.UUID(int=number + 1)), "/", text, version=1) for number, text in enumerate(texts)]
    path = tmp_path / "x.jsonl"
    path.write_bytes(jsonl.format_header() + b"".join(map(jsonl.format_record, memos)) + jsonl.format_footer(90, 0))
    with open_app(tmp_path / "home", postgres_at) as app:
        tally = take(app, path)
        assert tally.memos == {"saved": 88, "skipped": 2}
        assert [each.place for each in tally.skipped.items] == ["x.jsonl:5", "x.jsonl:79"]
        assert all("NUL" in each.why for each in tally.skipped.items)
        assert len(lines(app)) == 88


def test_the_same_memo_twice_in_one_batch(tmp_path):
    one = MemoRecord(str(uuid.UUID(int=1)), "/", "first", version=1)
    two = MemoRecord(str(uuid.UUID(int=1)), "/", "second", version=2)
    with open_app(tmp_path / "home") as app:
        assert [each["outcome"] for each in put(app, [one, two, one])["memos"]] == ["saved", "changed", "kept"]
        assert lines(app)[0]["content"] == "second"
