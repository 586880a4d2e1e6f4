"""specs/003: claims narrowed by kind and class, and what a list and one claim say of feedback and successors. Over the
wire, on both databases."""

import pytest
from specs.test_003_claims import data, failed, upsert
from specs.test_003_use import walk
from talk import Lines


@pytest.fixture
def talk(app):
    return Lines(app)


@pytest.fixture
def stored(talk) -> dict[str, str]:
    return {
        f"{kind} {label}": upsert(talk, f"The alcove holds {kind} {label}", kind=kind, boundary_class=label)
        for kind in ("fact", "preference")
        for label in ("public", "internal")
    }


@pytest.mark.parametrize(("tool", "asked"), [("list", {}), ("search", {"query": "what does the alcove hold"})])
def test_claims_are_narrowed_by_kind_and_class(talk, stored, tool, asked):
    for given, wanted in [
        ({}, ["fact public", "fact internal", "preference public", "preference internal"]),
        ({"kind": "fact"}, ["fact public", "fact internal"]),
        ({"boundary_class": "public"}, ["fact public", "preference public"]),
        ({"kind": "fact", "boundary_class": "public"}, ["fact public"]),
        ({"boundary_class": "pii"}, []),
    ]:
        (page,) = walk(talk, tool, **asked, **given)
        assert sorted(page) == sorted(stored[name] for name in wanted), given


def test_pages_of_a_narrowed_search_are_its_own(talk, stored):
    """The cursor of one filter is refused with another."""
    asked = {"query": "what does the alcove hold", "top_k": 1}
    assert [len(page) for page in walk(talk, "search", **asked, kind="fact")] == [1, 1]
    cursor = data(talk, "search", **asked, kind="fact")["next_cursor"]
    assert failed(talk, "search", **asked, kind="preference", cursor=cursor)["code"] == "VALIDATION_ERROR"


@pytest.mark.parametrize("tool", ["list", "search"])
def test_an_unknown_class_is_refused(talk, tool):
    asked = {"query": "alcove"} if tool == "search" else {}
    assert failed(talk, tool, **asked, boundary_class="other")["code"] == "INVALID_BOUNDARY"


def test_a_list_names_successors_and_a_claim_its_feedback(talk, stored):
    old, new = stored["fact public"], stored["fact internal"]
    assert "feedback" not in data(talk, "get", claim_id=new)
    data(talk, "supersede", claim_id=old, by=new)
    for signal in ("helpful", "outdated", "outdated"):
        data(talk, "feedback", claim_id=new, signal=signal)
    listed = {each["id"]: each for each in data(talk, "list", superseded=True)["items"]}
    assert listed[old]["superseded_by"] == new
    assert "superseded_by" not in listed[new]
    claim = data(talk, "get", claim_id=new)
    assert claim["feedback"] == {"helpful": 1, "outdated": 1}
    assert "warning" not in claim
