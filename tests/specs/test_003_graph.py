"""specs/003: entities and relations of claims, searched and walked over the wire, on both databases."""

import pytest
from policy.houses import enforce, key
from specs.test_003_claims import data, failed, upsert
from talk import Http, Lines

MAIL = "hanako.tanaka@example.co.jp"
MASKING = """version: 2
callers: { owner: ['*'] }
boundary_classes: { pii: { allow: ['*'], redact: [email] } }
"""


@pytest.fixture
def talk(app):
    return Lines(app)


def actor(entity_id, name, **more):
    return {"id": entity_id, "type": "Actor", "name": name, **more}


def pupil(relation_id, src, dst):
    return {"id": relation_id, "src_id": src, "dst_id": dst, "type": "pupil_of"}


def tea_masters(talk):
    """Three claims: 紹鷗 ← 利休 ← 織部 ← 遠州. 利休 and 織部 are each named by two claims, under different ids."""
    people = [actor("a", "紹鷗"), actor("b", "利休")], [actor("a", "利休"), actor("b", "織部")]
    last = [actor("x", "織部"), actor("y", "遠州", attrs={"born": 1579})]
    return [
        upsert(talk, "利休は紹鷗に学んだ", entities=people[0], relations=[pupil("r", "b", "a")]),
        upsert(talk, "織部は利休に学んだ", entities=people[1], relations=[pupil("r", "b", "a")]),
        upsert(talk, "遠州は織部に学んだ", entities=last, relations=[pupil("r", "y", "x")]),
    ]


def names(page):
    return [item["name"] for item in page["items"]]


def test_entities_are_found_by_name_key_and_type_and_come_once(talk):
    first, second, _ = tea_masters(talk)
    told = upsert(talk, "茶室は待庵", entities=[
        {"id": "t", "type": "Artifact", "name": "Tai-an", "canonical_key": "place/待庵"}, actor("b", "利休"),
    ])  # fmt: skip
    (found,) = data(talk, "entities", query="利休")["items"]
    assert (found["key"], found["type"], found["claims_count"]) == ("Actor:利休", "Actor", 3)
    assert found["claims"] == sorted([first, second, told])
    assert names(data(talk, "entities", query="TAI-AN")) == names(data(talk, "entities", query="待庵")) == ["Tai-an"]
    assert data(talk, "entities", query="待庵")["items"][0]["canonical_key"] == "place/待庵"
    assert names(data(talk, "entities", type="Artifact")) == ["Tai-an"]
    assert names(data(talk, "entities", query="利休 紹鷗")) == []
    assert names(data(talk, "entities", query="%")) == names(data(talk, "entities", query="利_")) == []


def test_entities_come_in_pages(talk):
    for start in range(0, 12, 4):
        upsert(talk, f"人々 {start}", entities=[actor(f"e{n}", f"人 {n:02}") for n in range(start, start + 6)])
    seen, cursor = [], None
    while True:
        page = data(talk, "entities", query="人", limit=4, **({"cursor": cursor} if cursor else {}))
        seen += names(page)
        cursor = page.get("next_cursor")
        if not page["has_more"]:
            break
    assert seen == [f"人 {n:02}" for n in range(14)]


def test_relations_are_walked_through_several_claims(talk):
    first, second, third = tea_masters(talk)
    near = data(talk, "related", entity="利休")
    assert near["entity"]["key"] == "Actor:利休"
    assert {(item["src"], item["dst"], item["claim_id"]) for item in near["items"]} == {
        ("Actor:利休", "Actor:紹鷗", first),
        ("Actor:織部", "Actor:利休", second),
    }
    far = data(talk, "related", entity="紹鷗", depth=3)
    assert [(item["depth"], item["claim_id"]) for item in far["items"]] == [(1, first), (2, second), (3, third)]
    assert [each["name"] for each in far["entities"]] == sorted(["利休", "織部", "遠州"])
    assert next(each for each in far["entities"] if each["name"] == "遠州")["attrs"] == {"born": 1579}
    assert data(talk, "related", entity="紹鷗", depth=3, type="admires")["items"] == []
    cut = data(talk, "related", entity="紹鷗", depth=3, limit=2)
    assert (len(cut["items"]), cut["has_more"]) == (2, True)


def test_an_id_may_mean_several_entities_and_a_key_means_one(talk):
    tea_masters(talk)
    error = failed(talk, "related", entity="a")
    assert error["code"] == "VALIDATION_ERROR"
    assert error["details"]["keys"] == ["Actor:利休", "Actor:紹鷗"]
    assert data(talk, "related", entity="Actor:利休")["entity"]["name"] == "利休"
    assert data(talk, "related", entity="y")["entity"]["name"] == "遠州"
    assert failed(talk, "related", entity="宗旦")["code"] == "NOT_FOUND"


def test_a_dangling_relation_is_refused_and_a_known_entity_is_enough(talk):
    for relation in (pupil("r", "b", "nobody"), pupil("r", "nobody", "b")):
        error = failed(
            talk, "upsert", text="宗旦の話", provenance={}, entities=[actor("b", "宗旦")], relations=[relation]
        )
        assert (error["code"], error["details"]["http_status"]) == ("VALIDATION_ERROR", 400)
        assert "'nobody'" in error["message"]
    assert data(talk, "list")["items"] == []
    assert data(talk, "entities")["items"] == []
    upsert(talk, "宗旦は孫", entities=[actor("sotan", "宗旦"), actor("rikyu", "利休")])
    upsert(talk, "宗旦は利休の孫", relations=[{"id": "r", "src_id": "sotan", "dst_id": "rikyu", "type": "grandson_of"}])
    assert [item["type"] for item in data(talk, "related", entity="宗旦")["items"]] == ["grandson_of"]


def test_forgotten_and_superseded_claims_name_nothing(talk):
    first, second, third = tea_masters(talk)
    data(talk, "supersede", claim_id=second, by=third)
    assert [item["claim_id"] for item in data(talk, "related", entity="利休")["items"]] == [first]
    data(talk, "forget", claim_id=first)
    assert names(data(talk, "entities")) == sorted(["織部", "遠州"])
    assert failed(talk, "related", entity="利休")["code"] == "NOT_FOUND"


def test_what_is_masked_or_hidden_is_not_found(app):
    owner = Lines(app)
    upsert(owner, "連絡先", entities=[actor("m", MAIL), actor("n", "花子")], relations=[pupil("r", "m", "n")])
    pupil_of_tea = Http(app, key(app, "pupil", root="/pupil"))
    assert data(pupil_of_tea, "entities")["items"] == []
    assert failed(pupil_of_tea, "related", entity="花子")["code"] == "NOT_FOUND"
    enforce(app, MASKING)
    assert names(data(owner, "entities")) == ["[masked:email]", "花子"]
    for part in ("hanako", "tanaka@", "example"):
        assert data(owner, "entities", query=part) == {"items": [], "has_more": False}
    assert names(data(owner, "entities", query=MAIL)) == ["[masked:email]"]  # the question is masked, like the names
    assert MAIL not in str(data(owner, "related", entity=MAIL))
    (item,) = data(owner, "related", entity="花子")["items"]
    assert MAIL not in str(item)
    assert "[masked:email]" in item["src"]


def test_a_ring_of_relations_is_walked_once(app):
    talk, count = Lines(app), 12
    ring = [pupil(f"r{n}", f"e{n}", f"e{(n + 1) % count}") for n in range(count)]
    upsert(talk, "輪", entities=[actor(f"e{n}", f"人{n}") for n in range(count)], relations=ring)
    told = data(talk, "related", entity="人0", depth=5)
    assert len(told["items"]) == len({item["id"] for item in told["items"]}) == 10
    assert [item["depth"] for item in told["items"]] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
