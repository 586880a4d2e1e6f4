"""The pages of claims: lists, what an agent would get, feedback, chains of claims and entities."""

import re
from dataclasses import replace
from typing import Any

import pytest
from web.site import Site

from tokonoma.core.call import OWNER, Caller, Principal
from tokonoma.core.errors import Missing
from tokonoma.core.reach import Reach
from tokonoma.server.web.pages.words.claim_values import name_claim_values

SOURCE = {"at": "2026-01-01T00:00:00Z", "actor": "ada", "url": "https://wiki.example/tea", "note": "at breakfast"}


@pytest.fixture
def person(site) -> Site:
    site.sign_in()
    return site


def store(site: Site, text: str = "Ada drinks green tea", **fields: Any) -> str:
    return site.call("claims", "upsert", **{"provenance": SOURCE, "scope": "project", **fields}, text=text)["id"]


def send(site: Site, path: str, **fields):
    return site.post(path, {"token": site.find_token(), **fields})


def test_empty_pages_say_how_to_fill_them(person):
    assert "claims.upsert" in person.get("/admin/claims").text
    assert "claims.upsert" in person.get("/admin/claims/entities").text
    assert "No claim fits this task" in person.get("/admin/claims/activate?q=tea").text


def test_every_value_has_a_name_in_both_languages(open_site):
    site = open_site()
    site.sign_in()
    store(site, kind="policy_hint", scope="principle", boundary_class="pii")
    assert "ポリシーのヒント" in site.get("/admin/claims", accept_language="ja").text
    assert set(name_claim_values("en")) == set(name_claim_values("ja"))


def test_the_list_is_narrowed_by_kind_scope_class_and_state(person):
    old = store(person, "Ada drinks coffee")
    tea = store(person, kind="preference", scope="principle", boundary_class="public")
    new = store(person, "Ada drinks water", boundary_class="pii")
    person.call("claims", "supersede", claim_id=old, by=new)
    for query, shown in {
        "": ["green tea", "water"],
        "kind=preference": ["green tea"],
        "scope=principle": ["green tea"],
        "boundary=pii": ["water"],
        "status=all": ["coffee", "green tea", "water"],
        "q=drinks&boundary=public": ["green tea"],
        "q=drinks&kind=fact": ["water"],
        "q=drinks&kind=task": [],
    }.items():
        page = person.get(f"/admin/claims?{query}").text
        found = [each for each in ("coffee", "green tea", "water") if f"Ada drinks {each}</a>" in page]
        assert found == shown, query
    assert f'class="old" href="/admin/claims/{new}"' in person.get("/admin/claims?status=all").text
    assert tea in person.get("/admin/claims?kind=wrong").text


def test_the_list_goes_on_page_by_page(person):
    for number in range(52):
        store(person, f"Number {number:02} is stored")
    first = person.get("/admin/claims").text
    more = re.search(r'class="button" href="([^"]+)"', first)
    assert more is not None
    rest = person.get(more[1].replace("&amp;", "&")).text
    shown = re.findall(r"Number (\d\d) is stored</a>", first + rest)
    assert sorted(shown) == [f"{number:02}" for number in range(52)]


def test_a_task_shows_what_an_agent_would_get_and_why(person):
    store(person, "Ada drinks green tea")
    store(person, "The router restarts at six", scope="session")
    page = person.get("/admin/claims/activate?q=what+does+Ada+drink&scope=project&most=5").text
    assert "Ada drinks green tea" in page
    assert "router" not in page
    assert re.search(r'aria-label="Score: 0\.\d\d"', page)
    assert re.search(r'aria-label="Words: 0\.\d\d"', page)
    context = re.search(r"id=(ac_\w+)", page)
    assert context is not None
    kept = person.get(f"/admin/claims/context?id={context[1]}").text
    assert "Ada drinks green tea" in kept
    gone = person.get("/admin/claims/context?id=ac_none")
    assert gone.status_code == 404
    assert 'value="ac_none"' in gone.text
    refused = person.get(f"/admin/claims/activate?q={'tea' * 3_000}")
    assert refused.status_code == 400
    assert "tea" * 3_000 in refused.text


def test_a_claim_that_misled_several_has_a_warning(person):
    claim = store(person)
    for name in ("one", "two", "three", "four", "five"):
        agent = Caller("web", principal=replace(OWNER, name=name))
        person.run_tool(agent, "claims", "feedback", {"claim_id": claim, "signal": "harmful"})
    for path in (f"/admin/claims/{claim}", "/admin/claims/activate?q=green+tea"):
        assert re.search(r'class="caution">Warning: feedback calls this claim harmful \(5\)', person.get(path).text)


def test_a_claim_shows_its_sources_entities_and_expiry(person):
    entities = [{"id": "a", "type": "Actor", "name": "Ada"}, {"id": "t", "type": "Concept", "name": "Tea"}]
    relations = [{"id": "r", "src_id": "a", "dst_id": "t", "type": "likes"}]
    git = {"repo": "home/notes", "commit": "0123abc", "files": ["tea.md"]}
    source = {**SOURCE, "url": "tokonoma://items/7", "git": git}
    claim = store(person, provenance=source, entities=entities, relations=relations, scope="session")
    page = person.get(f"/admin/claims/{claim}").text
    assert "at breakfast" in page
    assert 'href="/admin/items/7"' in page
    assert "repo: home/notes" in page
    assert re.search(r"Ada <span class=\"quiet\">— likes →</span> Tea", page)
    expires = person.call("claims", "get", claim_id=claim)["expires_at"]
    assert f'datetime="{expires}"' in page
    assert person.get("/admin/claims/clm_none").status_code == 404


@pytest.mark.parametrize("signal", ["helpful", "harmful", "outdated"])
def test_feedback_counts(person, signal):
    claim = store(person)
    path = f"/admin/claims/{claim}"
    assert send(person, path, action="feedback", signal=signal).headers["location"] == f"{path}?notice=feedback"
    assert person.call("claims", "get", claim_id=claim)["feedback"] == {signal: 1}
    assert re.search(rf'aria-label="{signal.capitalize()}: 1"', person.get(path).text)
    send(person, path, action="feedback", signal=signal)
    assert person.call("claims", "get", claim_id=claim)["feedback"] == {signal: 1}
    assert send(person, path, action="feedback", signal="other").status_code == 400
    assert send(person, path, action="other").status_code == 400


def test_a_chain_of_claims_is_drawn_and_a_circle_refused(person):
    first, second, third = (store(person, f"Ada drinks {each}") for each in ("coffee", "black tea", "green tea"))
    assert send(person, f"/admin/claims/{first}", action="supersede", by=second, version=1).status_code == 303
    address = f"tokonoma://claims/{third}"
    assert send(person, f"/admin/claims/{second}", action="supersede", by=address, version=1).status_code == 303
    for claim in (first, second, third):
        page = person.get(f"/admin/claims/{claim}").text
        chain = page[page.index('class="chain"') :]
        assert chain.index("coffee") < chain.index("black tea") < chain.index("green tea")
    circle = send(person, f"/admin/claims/{third}", action="supersede", by=first)
    assert circle.status_code == 400
    assert "itself superseded" in circle.text
    assert f'value="{first}"' in circle.text
    stale = send(person, f"/admin/claims/{third}", action="supersede", by=first, version=9)
    assert stale.status_code == 400
    assert "superseded_by" not in person.call("claims", "get", claim_id=third)


def test_a_claim_is_forgotten_in_two_steps(person):
    claim = store(person)
    ask = person.get(f"/admin/claims/{claim}/forget").text
    assert "cannot be restored" in ask
    assert send(person, f"/admin/claims/{claim}/forget", version=9).status_code == 409
    assert send(person, f"/admin/claims/{claim}/forget", version=1).status_code == 303
    with pytest.raises(Missing):
        person.call("claims", "get", claim_id=claim)


def test_entities_lead_to_their_relations_and_claims(person):
    entities = [{"id": "a", "type": "Actor", "name": "Ada"}, {"id": "t", "type": "Concept", "name": "Tea"}]
    relations = [{"id": "r", "src_id": "a", "dst_id": "t", "type": "likes"}]
    claim = store(person, entities=entities, relations=relations)
    page = person.get("/admin/claims/entities").text
    assert "Ada</a>" in page
    assert "Tea</a>" in page
    assert "Ada</a>" not in person.get("/admin/claims/entities?type=Concept").text
    assert "Nothing found." in person.get("/admin/claims/entities?q=nothing").text
    (key,) = re.findall(r'href="(/admin/claims/entity\?key=[^"]+)">Ada', page)
    one = person.get(key).text
    assert "likes" in one
    assert f"/admin/claims/{claim}" in one
    assert person.get("/admin/claims/entity?key=nothing").status_code == 404


def test_a_person_stores_a_claim(person):
    fields = {"text": "Ada drinks green tea", "kind": "preference", "scope": "principle", "boundary_class": "public"}
    made = send(person, "/admin/claims/new", **fields, url="https://a.example/", note="seen")
    found = re.search(r"/admin/claims/(clm_\w+)", made.headers["location"])
    assert found is not None
    claim = person.call("claims", "get", claim_id=found[1])
    assert (claim["kind"], claim["scope"], claim["boundary_class"]) == ("preference", "principle", "public")
    assert (claim["provenance"]["actor"], claim["provenance"]["note"]) == ("owner", "seen")
    refused = send(person, "/admin/claims/new", text=" ", note="Kept note")
    assert refused.status_code == 400
    assert "Kept note" in refused.text


def test_active_contexts_are_listed_and_opened(person):
    assert "You have no active context." in person.get("/admin/claims/context").text
    store(person, "The lantern leans.")
    made = [person.call("claims", "activate", q="lantern")["active_context_id"] for _ in range(3)]
    listed = re.findall(r"<code>(ac_\w+)</code>", person.get("/admin/claims/context").text)
    assert listed == made[::-1]
    assert "The lantern leans." in person.get(f"/admin/claims/context?id={made[0]}").text
    agent = Caller("http", principal=Principal("key:agent", "key", Reach()))
    assert person.run_tool(agent, "claims", "context.list", {})["items"] == []
