"""specs/003: claims that improve with use: pages, restated claims, age, feedback, concurrent sources. Over the wire, on
both databases."""

import threading

import pytest
from policy.houses import enforce, key
from policy.test_rules import SPECIFIED
from specs.test_003_claims import data, failed, upsert
from talk import Http, Lines

from tokonoma.core.clock import format_time
from tokonoma.embed.queue import count_waiting

DAY = 86_400_000
SMALL = "version: 2\nscopes: { session: { ttl: 7d, max_tokens: 60 } }\n"


@pytest.fixture
def talk(app):
    return Lines(app)


def settle(app):
    """Until every vector is made: a vector that comes later changes a score."""
    waiting = 1
    while waiting:
        app.search.worker.run_batch()
        with app.database.reading() as rows:
            waiting = count_waiting(rows)


def walk(talk, tool, between=lambda: None, **params):
    """All pages: the ids of each."""
    pages, cursor = [], None
    while True:
        page = data(talk, tool, **params, **({"cursor": cursor} if cursor else {}))
        items = page.get("items", page.get("claims"))
        pages.append([item.get("claim", item)["id"] for item in items])
        cursor = page.get("next_cursor")
        assert (cursor is not None) == page["has_more"]
        if cursor is None:
            return pages
        between()


ASKED = {
    "activate": {"q": "床の間の話", "top_k": 7},
    "search": {"query": "床の間の話", "top_k": 7},
    "list": {"limit": 7},
}


@pytest.mark.parametrize("tool", ASKED)
def test_pages_hold_every_claim_once_while_the_store_changes(app, tool):
    talk = Lines(app)
    ids = [upsert(talk, f"床の間の話 その{n} {'花軸香釜'[n % 4] * (n % 9)}") for n in range(40)]
    numbers = iter(range(100))

    def between():
        upsert(talk, f"床の間の話 あとから {next(numbers)}")
        data(talk, "feedback", claim_id=ids[next(numbers)], signal="helpful")

    pages = walk(talk, tool, between, **ASKED[tool])
    seen = [each for page in pages for each in page]
    assert len(seen) == len(set(seen)) == 40
    assert set(seen) == set(ids)
    assert all(len(page) == 7 for page in pages[:-1])


def test_pages_go_on_beyond_what_one_search_compares(app):
    talk = Lines(app)
    ids = {upsert(talk, f"茶会の記録 {n} 番") for n in range(110)}
    pages = walk(talk, "search", query="茶会の記録", top_k=50)
    assert sorted(each for page in pages for each in page) == sorted(ids)


def test_another_process_goes_on_with_the_same_ranking_or_refuses(app, monkeypatch):
    from tokonoma.core.recent import RecentResults
    from tokonoma.modules.claims import recall

    talk = Lines(app)
    ids = [upsert(talk, f"床の間の話 その{n} {'花' * n}") for n in range(12)]
    settle(app)

    def forget_rankings():
        monkeypatch.setattr(recall, "_rankings", RecentResults())

    pages = walk(talk, "search", forget_rankings, query="床の間の話", top_k=5)
    assert sorted(each for page in pages for each in page) == sorted(ids)
    first = data(talk, "search", query="床の間の話", top_k=5)
    data(talk, "forget", claim_id=first["items"][0]["claim"]["id"])
    forget_rankings()
    error = failed(talk, "search", query="床の間の話", top_k=5, cursor=first["next_cursor"])
    assert error["code"] == "VALIDATION_ERROR"
    assert "start again" in error["message"]


def test_what_does_not_fit_a_page_comes_on_the_next(app):
    talk = Lines(app)
    enforce(app, SMALL)
    ids = [upsert(talk, f"茶の湯の話 {n} " + "花" * (40 if n % 3 else 300)) for n in range(9)]
    ids += [upsert(talk, f"茶の湯の話 {n}", scope="project") for n in range(4)]
    pages = walk(talk, "search", query="茶の湯の話", top_k=6)
    assert sorted(each for page in pages for each in page) == sorted(ids)
    texts = {each["id"]: each for each in data(talk, "list")["items"]}
    for page in pages:
        session = [texts[each]["text"] for each in page if texts[each]["scope"] == "session"]
        assert len(session) <= 1 or sum(-(-len(text) // 4) for text in session) <= 60


def test_a_page_shows_only_what_may_still_be_seen(app):
    talk = Lines(app)
    enforce(app, SPECIFIED + "callers: { owner: ['*'] }\n")
    ids = [upsert(talk, f"茶の湯の決まり {n}", scope="project") for n in range(6)]
    asked = {"query": "茶の湯の決まり", "allow": ["answer:task"], "top_k": 2}
    first = data(talk, "search", **asked)
    shown = {item["claim"]["id"] for item in first["items"]}
    stricter, forgotten, left, last = [each for each in ids if each not in shown]
    with app.database.writing() as statements:
        statements.run("update claim set label = 'pii' where id = :id", id=stricter)
    data(talk, "forget", claim_id=forgotten)
    rest = data(talk, "search", **asked, cursor=first["next_cursor"])
    assert {item["claim"]["id"] for item in rest["items"]} == {left, last}
    assert not rest["has_more"]


def test_a_claim_said_again_comes_back_from_the_shadow_of_its_successor(talk):
    old, new = upsert(talk, "集合は九時", scope="project"), upsert(talk, "集合は十時", scope="project")
    data(talk, "supersede", claim_id=old, by=new)
    # The same source once more is not news: the answer names the successor.
    again = {"text": "集合は九時", "scope": "project"}
    told = data(talk, "upsert", **again, provenance={"at": "2026-01-15T09:00:00Z"})
    assert (told["id"], told["superseded_by"]) == (old, new)
    assert [item["claim"]["id"] for item in data(talk, "search", query="集合")["items"]] == [new]
    told = data(talk, "upsert", **again, provenance={"at": "2026-03-01T09:00:00Z"})
    assert told == {"id": old, "policy_version": told["policy_version"]}
    assert {item["claim"]["id"] for item in data(talk, "search", query="集合")["items"]} == {old, new}
    assert "superseded_by" not in data(talk, "get", claim_id=old)
    event = data(talk, "history", claim_id=old)["items"][-1]
    assert (event["what"], event["details"]) == ("restored", {"after": new})


def recency(talk, claim_id, query):
    items = data(talk, "search", query=query, include_meta=True)["items"]
    return next(item["scores"]["recency"] for item in items if item["claim"]["id"] == claim_id)


def test_recency_counts_from_when_it_was_known(talk, frozen_clock):
    def ago(days):
        return {"at": format_time(frozen_clock.at - days * DAY)}

    old = upsert(talk, "釜の話 古い", scope="project", provenance=ago(120))
    fresh = upsert(talk, "釜の話 新しい", scope="project", provenance=ago(0))
    ahead = upsert(talk, "釜の話 先の", scope="project", provenance=ago(-30))
    assert recency(talk, old, "釜の話") == pytest.approx(0.5, abs=1e-4)
    assert recency(talk, fresh, "釜の話") == recency(talk, ahead, "釜の話") == 1.0
    upsert(talk, "釜の話 古い", scope="project", provenance={**ago(30), "url": "https://example.org/kama"})
    assert recency(talk, old, "釜の話") == pytest.approx(2 ** (-30 / 120), abs=1e-4)


def test_feedback_moves_a_claim_by_its_amount(talk, app):
    """Ten claims, the last of them ever less similar: small feedback moves the last a little, and never to the top."""
    ids = [upsert(talk, "茶碗 " * (10 - n) + f"棚 {n} " + "炭 " * 3 * n, scope="project") for n in range(10)]
    settle(app)

    def ranked():
        return {item["claim"]["id"]: item["score"] for item in data(talk, "search", query="茶碗")["items"]}

    before = ranked()
    last = list(before)[-1]
    data(talk, "feedback", claim_id=last, signal="helpful", score=0.1)
    little = ranked()
    data(talk, "feedback", claim_id=last, signal="duplicate", score=-1)
    more = ranked()
    assert before[last] < little[last] < more[last] < 1.25 * before[last]
    assert next(iter(more)) != last
    assert all(more[each] == before[each] for each in ids if each != last)


def test_a_claim_that_many_called_harmful_is_returned_with_a_warning(app):
    owner = Lines(app)
    claim, other = upsert(owner, "水は屋根から汲む"), upsert(owner, "水は朝に汲む")
    callers = [Http(app, key(app, f"caller{n}")) for n in range(3)]
    for number, caller in enumerate(callers):
        assert all("reason" not in item for item in data(owner, "activate", q="水を汲む")["claims"])
        data(caller, "feedback", claim_id=claim, signal="outdated" if number else "harmful")
    context = data(owner, "activate", q="水を汲む")
    reasons = {item["claim"]["id"]: item.get("reason") for item in context["claims"]}
    assert reasons[other] is None
    assert "harmful (1) and outdated (2)" in reasons[claim]
    again = data(owner, "context.get", active_context_id=context["active_context_id"])
    assert {item["claim"]["id"]: item.get("reason") for item in again["claims"]} == reasons
    (item,) = (
        each for each in data(owner, "search", query="水", include_meta=True)["items"] if each["claim"]["id"] == claim
    )
    assert item["reason"].startswith("Warning: ")
    for caller in callers:
        data(caller, "feedback", claim_id=claim, signal="helpful", score=1)
    assert "harmful" in str(data(owner, "activate", q="水を汲む")["claims"])


def test_concurrent_upserts_keep_every_source(app):
    talks = [Lines(app) for _ in range(20)]
    ready = threading.Barrier(len(talks))
    ids = []

    def tell(number, talk):
        ready.wait()
        source = {"at": "2026-01-15T09:00:00Z", "url": f"https://example.org/{number}"}
        ids.append(upsert(talk, "水屋は北にある", scope="project", provenance=source))

    threads = [threading.Thread(target=tell, args=each) for each in enumerate(talks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) == 20
    assert len(set(ids)) == 1
    sources = [each["source_id"] for each in data(talks[0], "get", claim_id=ids[0])["evidences"]]
    assert sorted(sources) == sorted(f"https://example.org/{number}" for number in range(20))
