"""memory: memos that replace others, hold for a time, have a date of their own, and are found to be similar; over the
wire, on both databases."""

import pytest
from policy.houses import MASKING, enforce, key
from talk import Http, Json, Lines, Talk

OLD = "The garage code is 4711, ask Ruth for the fob."
NEW = "Ruth changed the lock: it opens with 9052 now."
OTHER = "The bakery opens at seven, closed on Mondays."
HIDING = """
version: 2
labels:
  - { space: /hr, class: secret }
"""


@pytest.fixture
def line(app) -> Lines:
    return Lines(app)


def save(talk: Talk, content: str, **fields) -> str:
    return talk.call("memory", "save", content=content, **fields)["memo_id"]


def search(talk: Talk, query: str, **params) -> list[Json]:
    return talk.call("memory", "search", query=query, **params)["items"]


def list_ids(items: list[Json]) -> list[str]:
    return [each["memo_id"] for each in items]


def test_a_memo_replaces_older_ones_wherever_they_are_shown(talk: Talk) -> None:
    old = save(talk, OLD)
    new = talk.call("memory", "save", content=NEW, supersedes=old)
    assert new["supersedes"] == [old]
    assert talk.call("memory", "get", memo_id=old)["superseded_by"] == new["memo_id"]
    listed = {each["memo_id"]: each for each in talk.call("memory", "list")["items"]}
    assert listed[old]["superseded_by"] == new["memo_id"]
    assert listed[new["memo_id"]]["supersedes"] == [old]
    assert talk.call("memory", "history", memo_id=old)["superseded_by"] == new["memo_id"]
    assert talk.call("memory", "history", memo_id=new["memo_id"])["items"][0]["supersedes"] == [old]
    (full, _) = search(talk, "garage code fob", detail="full")
    assert (full["memo_id"], full["supersedes"]) == (new["memo_id"], [old])
    assert talk.value("fetch", id=f"tokonoma://memory/{old}")["metadata"]["superseded_by"].endswith(new["memo_id"])
    found = talk.value("search", query="garage code fob")["results"]
    assert [each["id"].rpartition("/")[2] for each in found[:2]] == [new["memo_id"], old]
    assert found[1]["superseded_by"] == f"tokonoma://memory/{new['memo_id']}"


def test_the_successor_comes_in_where_the_older_one_stands(line: Lines) -> None:
    old, new = save(line, OLD), save(line, "Zzz.")
    for number in range(8):
        save(line, f"Garage note {number}")
    line.call("memory", "save", memo_id=new, supersedes=[old])
    for mode in ("text", "hybrid"):
        items = search(line, "garage code 4711 fob", mode=mode, k=3)
        assert list_ids(items)[:2] == [new, old]
        assert (items[1]["superseded_by"], "superseded_by" in items[0]) == (new, False)
        scores = [each["score"] for each in items]
        assert scores == sorted(scores, reverse=True)
    assert list_ids(search(line, "garage code 4711 fob", minimum_similarity=0.5, k=1)) == [old]
    # What the filter of the search does not admit does not come in; the mark stays.
    line.call("memory", "save", memo_id=old, metadata={"kind": "code"})
    (alone,) = search(line, "garage code", metadata_filter={"kind": "code"})
    assert (alone["memo_id"], alone["superseded_by"]) == (old, new)


def test_a_row_of_corrections_leads_to_the_last_one(line: Lines) -> None:
    first, second, third = (save(line, f"{OLD} Version {number}.") for number in range(3))
    line.call("memory", "save", memo_id=second, supersedes=first)
    line.call("memory", "save", memo_id=third, supersedes=second)
    items = search(line, "garage code fob Ruth version")
    assert list_ids(items) == [third, second, first]
    assert [each.get("superseded_by") for each in items] == [None, third, third]
    assert line.call("memory", "get", memo_id=first)["superseded_by"] == third


def test_every_way_of_taking_it_back_frees_the_older_one(line: Lines) -> None:
    old, new = save(line, OLD), save(line, NEW)

    def is_marked() -> bool:
        hits = {each["memo_id"]: each for each in search(line, "garage code fob")}
        marked = "superseded_by" in line.call("memory", "get", memo_id=old)
        assert ("superseded_by" in hits[old]) is marked
        return marked

    def mark() -> int:
        told = line.call("memory", "save", memo_id=new, supersedes=[old])
        assert is_marked()
        return told["version"]

    assert not is_marked()
    mark()
    line.call("memory", "save", memo_id=new, supersedes=[])
    assert not is_marked()
    version = mark()
    line.call("memory", "delete", memo_id=new)
    assert not is_marked()
    line.call("memory", "restore", memo_id=new)
    assert is_marked()
    line.call("memory", "restore", memo_id=new, version=version - 1)
    assert not is_marked()
    line.call("memory", "restore", memo_id=new, version=version)
    assert is_marked()


def test_what_cannot_be_replaced_is_refused_and_says_what_to_do(line: Lines) -> None:
    old, new, far = save(line, OLD), save(line, NEW), save(line, OTHER, namespace="/far")
    line.call("memory", "save", memo_id=new, supersedes=old)
    for memo_id, wanted, code, says in (
        (new, "00000000-0000-7000-8000-000000000000", "NOT_FOUND", "Give the memo_id of an older memo"),
        (new, new, "INVALID_ARGUMENT", "cannot supersede itself"),
        (new, far, "INVALID_ARGUMENT", "memory.move"),
        (old, new, "INVALID_ARGUMENT", "supersedes: []"),
    ):
        error = line.refused("memory", "save", memo_id=memo_id, supersedes=wanted)
        assert (error["code"], says in error["message"]) == (code, True), error
    error = line.refused("memory", "save", memos=[{"content": "x"}, {"content": "y", "supersedes": ["nothing"]}])
    assert "memos[1].supersedes" in error["message"]
    assert len(line.call("memory", "list", namespace="/")["items"]) == 3
    third = save(line, "Third", supersedes=[new])
    assert "supersedes: []" in line.refused("memory", "save", memo_id=old, supersedes=third)["message"]


def test_a_caller_learns_nothing_of_what_it_may_not_see(app, line: Lines) -> None:
    old = save(line, OLD, namespace="/work")
    hidden = save(line, NEW, namespace="/work", supersedes=old)
    line.call("memory", "move", memo_ids=[hidden], to="/hr")
    enforce(app, HIDING)
    agent, inside = Http(app, key(app, "agent")), Http(app, key(app, "inside", root="/work"))
    for talk in (agent, inside):
        shown = talk.call("memory", "get", memo_id=old)
        assert "superseded_by" not in shown
        assert "superseded_by" not in talk.call("memory", "history", memo_id=old)
        (hit,) = search(talk, "garage code fob", namespace="/")
        assert (hit["memo_id"], "superseded_by" in hit) == (old, False)
        assert hidden not in str(talk.value("fetch", id=f"tokonoma://memory/{old}"))
        assert talk.refused("memory", "save", memo_id=old, supersedes=hidden)["code"] == "NOT_FOUND"
    # The other way round: what a memo replaces is not named to those who do not see it.
    kept = save(line, "Newer", namespace="/work", supersedes=old)
    line.call("memory", "move", memo_ids=[old], to="/hr")
    told = [
        inside.call("memory", "get", memo_id=kept),
        inside.call("memory", "list"),
        inside.call("memory", "history", memo_id=kept),
        inside.call("memory", "search", query="newer", detail="full"),
        inside.call("memory", "save", memo_id=kept, title="Named"),
    ]
    assert old not in str(told)


def test_what_holds_no_longer_stands_behind_and_says_so(line: Lines) -> None:
    past = save(line, "Bus 12 leaves at 7:40 from the school.", valid_from="2019-01-01", valid_until="2020-06-30")
    now = save(line, "Bus 12 leaves at 7:55 from the school gate.")
    coming = save(line, "Bus 12 leaves at 8:10 from the school.", valid_from="2199-01-01T00:00:00+09:00")
    items = search(line, "When does bus 12 leave from the school?")
    assert list_ids(items)[0] == now
    marks = {each["memo_id"]: (each.get("valid_from"), each.get("valid_until")) for each in items}
    assert marks == {
        past: ("2019-01-01", "2020-06-30"), now: (None, None), coming: ("2198-12-31T15:00:00.000Z", None)
    }  # fmt: skip
    results = {each["id"].rpartition("/")[2]: each for each in line.value("search", query="bus 12 school")["results"]}
    assert results[past]["valid_until"].startswith("2020-06-30")
    assert "valid_until" not in results[now]
    for day, held in (
        ("2020-06-30", {past, now}),
        ("2020-07-01", {now}),
        ("2018-12-31", {now}),
        ("2199-01-01", {now, coming}),
    ):
        assert set(list_ids(search(line, "bus 12 school", valid_at=day))) == held, day
        assert set(list_ids(line.call("memory", "list", valid_at=day)["items"])) == held, day
    assert "valid_at" in line.refused("memory", "list", valid_at="soon")["message"]
    assert "valid_at" in line.refused("memory", "search", query="x", valid_at="soon")["message"]


def test_dates_can_be_changed_removed_and_are_checked(line: Lines) -> None:
    memo = line.call("memory", "save", content=OLD, date="2024-03-05", valid_from="2024-03-05T09:00:00+09:00")
    assert (memo["date"], memo["valid_from"]) == ("2024-03-05", "2024-03-05T00:00:00.000Z")
    memo_id, version = memo["memo_id"], memo["version"]
    error = line.refused("memory", "save", memo_id=memo_id, valid_until="2024-03-04")
    assert "before valid_from" in error["message"]
    assert "2027-01-31" in line.refused("memory", "save", memo_id=memo_id, date="last week")["message"]
    left = line.call("memory", "save", memo_id=memo_id, date="never", valid_from="never")
    assert not {"date", "valid_from"} & left.keys()
    assert line.call("memory", "restore", memo_id=memo_id, version=version)["date"] == "2024-03-05"
    changed = line.call("memory", "history", memo_id=memo_id, diff=True)["items"]
    assert "-date: 2024-03-05" in changed[1]["diff"]


def test_the_date_of_a_memo_is_what_searches_and_ages_go_by(line: Lines) -> None:
    ancient = save(line, "Picnic by the river with Ruth", date="2001-06-12")
    plain = save(line, "Picnic by the river with Otto", metadata={"date": "2001-06-13"})
    recent = save(line, "Picnic by the river with Ida")
    items = search(line, "picnic by the river")
    assert {each["memo_id"]: each.get("date") for each in items}[ancient] == "2001-06-12"
    assert set(list_ids(search(line, "picnic in June 2001", k=2))) == {ancient, plain}
    for mode in ("text", "hybrid", "vector"):
        aged = search(line, "picnic by the river", half_life_days=5000, mode=mode, explain=True)
        decays = {each["memo_id"]: each["score_details"]["decay"] for each in aged}
        assert decays[recent] == 1.0, mode
        assert max(decays[ancient], decays[plain]) < 0.5, mode
    for tool in ("search", "list"):
        found = line.call("memory", tool, metadata_filter={"date": {"gte": "2001-06-01", "lte": "2001-06-30"}})
        assert set(list_ids(found["items"])) == {ancient, plain}
    # The field goes before what the metadata say.
    line.call("memory", "save", memo_id=plain, date="2010-01-01")
    found = line.call("memory", "list", metadata_filter={"date": {"lte": "2002"}})
    assert list_ids(found["items"]) == [ancient]
    results = line.value("search", query="picnic by the river")["results"]
    assert {each["date"] for each in results} >= {"2001-06-12", "2010-01-01"}


def test_a_save_names_earlier_memos_that_it_corrects_or_repeats(talk: Talk) -> None:
    old = save(talk, "The dentist appointment is on March 12 at 15:00.")
    save(talk, OTHER)
    told = talk.call("memory", "save", content="The dentist appointment is on March 19 at 15:00.")
    found = told["similar"][0]
    assert (found["memo_id"], found["relation"], found["similarity"] > 0.7) == (old, "contradicted", True)
    assert found["text"].startswith("The dentist")
    marked = talk.value("call", **found["call"])
    assert marked["supersedes"] == [old]
    # What is replaced is not proposed again; nor is anything of another namespace, or for a memo without a new text.
    third = talk.call("memory", "save", content="The dentist appointment is on March 26 at 15:00.")
    proposed = [each["memo_id"] for each in third["similar"]]
    assert (proposed[0], old in proposed) == (told["memo_id"], False)
    assert "similar" not in talk.call("memory", "save", content=OTHER, namespace="/elsewhere")
    assert "similar" not in talk.call("memory", "save", memo_id=third["memo_id"], title="Teeth")
    twice = talk.call("memory", "save", memos=[{"content": OTHER}, {"content": "Something else entirely"}])["items"]
    assert twice[0]["similar"][0]["relation"] == "same"
    many = talk.call("memory", "save", memos=[{"content": OTHER}] * 21)["items"]
    assert not any("similar" in each for each in many)


def test_a_save_compares_only_with_what_its_caller_may_see(app, line: Lines) -> None:
    save(line, OLD, namespace="/work")
    call = "Call the plumber about the leak"
    hidden = save(line, f"{call}, 090-1234-5678.", namespace="/work/hidden")
    inside = Http(app, key(app, "inside", root="/work/else"))
    assert "similar" not in inside.call("memory", "save", content=OLD, namespace="/")
    enforce(app, MASKING)
    agent = Http(app, key(app, "agent"))
    told = agent.call("memory", "save", content=f"{call}.", namespace="/work/hidden")
    assert {each["memo_id"] for each in told.get("similar", [])} <= {hidden}
    assert "1234" not in str(told)
    enforce(app, HIDING)
    line.call("memory", "move", memo_ids=[hidden, told["memo_id"]], to="/hr")
    assert "similar" not in agent.call("memory", "save", content=f"{call}!", namespace="/hr")
