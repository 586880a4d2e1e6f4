"""specs/000, 重複: near-identical memos are found in groups, page by page, over the wire, on both databases."""

import itertools

import pytest
from policy.houses import enforce, key
from talk import Http, Lines

from tokonoma.app import App
from tokonoma.modules.memory import duplicates

SAME = ["The spare key is in the drawer.", "the spare key is in the drawer", "The spare  key is in the drawer!"]
NEAR = ["合鍵は玄関の引き出しに入っている。", "合鍵は玄関の引き出しに入っています。"]
OTHER = ["Buy rice and miso on Friday", "東京駅で八時に会う", "The train leaves at nine", "Rent is due on the first"]


@pytest.fixture
def talk(app) -> Lines:
    return Lines(app)


def save(talk, *contents, **more):
    memos = [{"content": each, **more} for each in contents]
    return [item["memo_id"] for item in talk.call("memory", "save", memos=memos)["items"]]


def find_groups(talk, **params):
    """The groups of all pages as sets of ids; and the number of pages."""
    groups, cursor, pages = [], None, 0
    while pages == 0 or cursor:
        page = talk.call("memory", "duplicates", **params, **({"cursor": cursor} if cursor else {}))
        groups += [frozenset(memo["memo_id"] for memo in each["memos"]) for each in page["items"]]
        cursor, pages = page.get("next_cursor"), pages + 1
        assert bool(cursor) is page["has_more"]
    return groups, pages


def test_groups_hold_what_is_nearly_the_same_and_nothing_else(talk):
    others, same, near = save(talk, *OTHER), save(talk, *SAME), save(talk, *NEAR)
    told = talk.call("memory", "duplicates")
    groups = {frozenset(memo["memo_id"] for memo in each["memos"]): each for each in told["items"]}
    assert groups.keys() == {frozenset(same), frozenset(near)}
    assert groups[frozenset(same)]["similarity"] == 1.0
    assert 0.8 <= groups[frozenset(near)]["similarity"] < 1.0
    newest = groups[frozenset(near)]["memos"][0]
    assert (newest["memo_id"], newest["content"], newest["version"]) == (near[1], NEAR[1], 1)
    assert told["compared"] == len(others) + len(same) + len(near)
    assert find_groups(talk, minimum_similarity=1.0)[0] == [frozenset(same)]


def test_pages_report_each_group_once_in_a_fixed_order(talk, monkeypatch):
    pairs = [save(talk, *(f"{text} {'' if n else '.'}" for n in range(2))) for text in (*SAME[:1], *NEAR[:1], *OTHER)]
    whole, pages = find_groups(talk)
    assert pages == 1
    assert whole == [frozenset(pair) for pair in reversed(pairs)]
    assert find_groups(talk, limit=1) == (whole, 7)  # the last page compares the older memo of the last pair
    for taken in (1, 3, 5):
        monkeypatch.setattr(duplicates, "_TAKEN", taken)
        assert find_groups(talk)[0] == whole


def test_memos_that_hang_together_through_another_are_one_group(talk):
    steps = ["alpha beta gamma delta", "alpha beta gamma epsilon", "alpha beta zeta epsilon"]
    texts = [f"{step} this long sentence is the same in every memo of the chain" for step in steps]
    for order in itertools.permutations(range(3)):
        ids = save(talk, *(texts[number] for number in order), namespace=f"/n{order[0]}{order[1]}")
        groups, _ = find_groups(talk, namespace=f"/n{order[0]}{order[1]}", minimum_similarity=0.85)
        assert groups == [frozenset(ids)]


def test_a_merged_group_is_no_longer_reported(talk):
    first, *rest = save(talk, *SAME)
    talk.call("memory", "merge", keep=first, merge=rest)
    assert find_groups(talk)[0] == []
    talk.call("memory", "restore", memo_id=rest[0])
    assert find_groups(talk)[0] == [frozenset({first, rest[0]})]


def test_only_what_the_caller_sees_is_compared(app, talk):
    enforce(
        app,
        "version: 2.0\ncallers: { owner: ['*'], 'key:bot': ['answer:task'] }\n"
        "boundary_classes: { pii: { allow: ['owner:eyes'] }, internal: { allow: ['*'] } }\n",
    )
    seen = save(talk, *SAME[:2], namespace="/team")
    save(talk, SAME[2], namespace="/other")
    hidden = "Write to taro.yamada@example.jp before the long weekend"
    save(talk, hidden, hidden, namespace="/team")
    bot = Http(app, key(app, "bot", root="/team"))
    assert find_groups(bot)[0] == [frozenset(seen)]
    assert bot.call("memory", "duplicates")["compared"] == 2
    assert len(find_groups(talk)[0]) == 2


def test_a_masked_text_is_compared_as_the_caller_sees_it(app, talk):
    enforce(
        app,
        "version: 2.0\ncallers: { owner: ['*'], 'key:bot': ['answer:task'] }\n"
        "boundary_classes: { pii: { allow: ['answer:task'], redact: [pii] } }\n",
    )
    for name in ("taro.yamada", "hana.suzuki"):
        save(talk, f"Write to {name}@example.jp")
    told = Http(app, key(app, "bot")).call("memory", "duplicates")
    assert [each["similarity"] for each in told["items"]] == [1.0]
    assert "example.jp" not in str(told)


def test_without_a_model_texts_alone_are_compared(sqlite_at, tmp_path):
    house = App(
        {"home": str(tmp_path / "h"), "database_url": sqlite_at, "durable": False, "embed_provider": "none"}, {}
    )
    try:
        talk = Lines(house)
        save(talk, *OTHER)
        same, near = save(talk, *SAME), save(talk, *NEAR)
        assert find_groups(talk)[0] == [frozenset(near), frozenset(same)]
    finally:
        house.close()
