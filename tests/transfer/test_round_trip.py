"""Out and in again loses nothing: of memos, metadata, threads, times, versions, the trash, relations."""

import uuid

import pytest
from conftest import SOAK
from hypothesis import given, settings
from hypothesis import strategies as st
from transfer.apps import lines, open_app, put, take, to_file, to_folder

from tokonoma.core.clock import now
from tokonoma.transfer import markdown
from tokonoma.transfer.model import MemoRecord, RelationRecord
from tokonoma.transfer.notes import find_common_namespace

pytestmark = pytest.mark.migrated

LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")  # neither can be stored
ODD = [
    "CON",
    "nul.md",
    "a/b",
    "..",
    "a:b?",
    "名前",
    "名前 ",
    "ＡＢＣ",
    "abc",
    "ABC",
    "か\u3099",
    "が",
    "x.md",
    ".x",
    "😀𠮟",
    "---",
]
MARK = "<!-- tokonoma: the relations of the front matter, for people -->"
WORDS = st.sampled_from(ODD) | st.text(LETTERS, max_size=20)
TEXTS = st.text(LETTERS, max_size=60) | st.sampled_from(
    ["---\na: 1\n---\nx", "x\r\ny\r", "\n\nx\n\n", MARK, f"x\n\n{MARK}\n\n- y", "- [ ] x"]
)
JSON = st.recursive(
    st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False, width=32)
    | st.none()
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
DATES = st.sampled_from(["", "", "2024-03-05", "1950-01-31", "2024-03-05T09:00:00.000Z"])
TIMES = st.integers(0, 4_000_000_000_000)
SPACES = st.lists(
    st.text(
        st.characters(min_codepoint=32, exclude_categories=["Cs"], exclude_characters="/"), min_size=1, max_size=8
    ).filter(lambda part: part not in (".", ".."))
    | st.sampled_from(["notes", "Notes", "CON", "x.md", "今日"]),
    max_size=3,
).map(lambda parts: "/" + "/".join(parts))
MEMOS = st.builds(
    MemoRecord,
    memo_id=st.uuids().map(str),
    namespace=SPACES,
    title=WORDS,
    content=TEXTS.filter(lambda text: bool(text.strip())),
    metadata=st.dictionaries(WORDS, JSON, max_size=4),
    thread=WORDS,
    created_at=TIMES,
    updated_at=TIMES,
    expires_at=st.none() | TIMES,
    deleted_at=st.none() | TIMES,
    version=st.integers(1, 99),
    boundary=st.sampled_from(["public", "internal", "pii", "secret"]),
    date=DATES,
    valid_from=DATES,
    valid_until=DATES,
    supersedes=st.lists(st.uuids().map(str), max_size=2, unique=True),
)


@st.composite
def stores(draw):
    memos = draw(st.lists(MEMOS, max_size=8, unique_by=lambda memo: memo.memo_id))
    if len(memos) < 2:
        return memos, []
    pairs = st.tuples(st.sampled_from(memos), st.sampled_from(memos)).filter(lambda pair: pair[0] is not pair[1])
    relations = {}
    for source, target in draw(st.lists(pairs, max_size=8)):
        tag = draw(st.sampled_from(["causes", "関連", "a b", "x]y"]))
        space = find_common_namespace(source.namespace, target.namespace)
        weight, reason = draw(st.integers(0, 100)) / 100, draw(TEXTS)
        bond = RelationRecord(space, source.memo_id, target.memo_id, tag, weight, reason, draw(TIMES), draw(TIMES), 3)
        relations[bond.source, bond.target, bond.tag] = bond
    return memos, list(relations.values())


@pytest.mark.parametrize("form", [to_file, to_folder])
@settings(max_examples=400 if SOAK else 15)
@given(store=stores())
def test_a_fresh_house_is_like_the_first(form, tmp_path_factory, store):
    memos, relations = store
    base = tmp_path_factory.mktemp("trip")
    with open_app(base / "one") as one:
        landed = put(one, memos, relations)
        assert {each["outcome"] for each in (*landed["memos"], *landed["relations"])} <= {"saved"}
        before = lines(one)
        assert len(before) == len(memos) + len(relations)
        written = form(one, base / ("kept.jsonl" if form is to_file else "kept"))
    with open_app(base / "two") as two:
        tally = take(two, written, "tokonoma")
        assert tally.skipped.items == []
        assert lines(two) == before
        again = take(two, written, "tokonoma")
        assert (again.memos["unchanged"], again.relations["unchanged"]) == (len(memos), len(relations))
        assert lines(two) == before


SOME = [
    MemoRecord(str(uuid.UUID(int=number + 1)), space, content, title, {"n": number}, "t", 1000, 2000, None, gone, 2)
    for number, (space, title, content, gone) in enumerate(
        [
            ("/", "軸", "床の間に掛ける", None),
            ("/notes", "軸", "another of the same name", None),
            ("/notes", "軸", "a third", 3000),
            ("/notes/今日", "", "# 見出し\n\nwithout a title", None),
            ("/Notes", "軸", "a folder that differs by case alone", None),
        ]
    )
]
RELATED = [
    RelationRecord("/notes", SOME[1].memo_id, SOME[2].memo_id, "causes", 0.5, "why", 1, 2, 1),
    RelationRecord("/", SOME[0].memo_id, SOME[3].memo_id, "関連", 1.0, "", 3, 4, 7),
    RelationRecord("/", SOME[0].memo_id, SOME[4].memo_id, "関連", 0.0, "", 3, 4, 7),
]


@pytest.mark.parametrize("form", [to_file, to_folder])
def test_from_one_database_to_the_other(form, tmp_path, database_url):
    with open_app(tmp_path / "one") as one:
        put(one, SOME, RELATED)
        before = lines(one)
        written = form(one, tmp_path / "kept.jsonl")
    with open_app(tmp_path / "two", database_url) as two:
        assert take(two, written, "tokonoma").memos == {"saved": 5}
        assert lines(two) == before
        assert take(two, written, "tokonoma").relations == {"unchanged": 3}
    with open_app(tmp_path / "two", database_url) as two:
        back = form(two, tmp_path / "back.jsonl")
    with open_app(tmp_path / "three") as three:
        take(three, back, "tokonoma")
        assert lines(three) == before


def test_more_relations_than_a_front_matter_should_hold(tmp_path, monkeypatch):
    monkeypatch.setattr(markdown, "MAX_RELATIONS", 1)
    with open_app(tmp_path / "one") as one:
        put(one, SOME, RELATED)
        before = lines(one)
        written = to_folder(one, tmp_path / "kept")
    assert (written / "relations.jsonl").read_text().count('"type":"relation"') == 1
    with open_app(tmp_path / "two") as two:
        assert take(two, written).skipped.items == []
        assert lines(two) == before


def test_only_a_namespace_and_only_what_lives(tmp_path):
    gone = MemoRecord(str(uuid.uuid4()), "/notes", "expired", expires_at=now() - 1000, version=1)
    with open_app(tmp_path / "one") as one:
        put(one, [*SOME, gone], RELATED)
        inside = lines(one, namespace="/notes", trash=False)
        assert [each["content"] for each in inside] == [SOME[1].content, SOME[3].content]
        # One end of each relation lies outside or in the trash.
        whole = lines(one, namespace="/notes")
        assert {each["content"] for each in whole if each["type"] == "memo"} == {
            *(memo.content for memo in SOME[1:4]), "expired"
        }  # fmt: skip
        assert [each["tag"] for each in whole if each["type"] == "relation"] == ["causes"]


def test_pages_follow_each_other(tmp_path):
    many = [MemoRecord(str(uuid.UUID(int=number + 1)), "/", f"memo {number}", version=1) for number in range(1203)]
    related = [RelationRecord("/", many[0].memo_id, each.memo_id, "t", version=1) for each in many[1:]]
    large = [MemoRecord(str(uuid.UUID(int=10_000 + number)), "/", "x" * 1_000_000, version=1) for number in range(9)]
    with open_app(tmp_path / "one") as one:
        put(one, [*many, *large], related)
        told = lines(one)
    assert [each["memo_id"] for each in told if each["type"] == "memo"] == [each.memo_id for each in (*many, *large)]
    assert [each["target"] for each in told if each["type"] == "relation"] == [each.target for each in related]
