"""Scores of claims, as CONTRACTS has them. Pure."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.policy_api import Retrieval
from tokonoma.modules.claims.claim import Claim, content_hash
from tokonoma.modules.claims.ranking import (
    LINE,
    Found,
    alpha_of,
    calibrated,
    chosen,
    recency_of,
    scored,
    text_of,
    with_signal,
)

DAY = 86_400_000
NOW = 1_000 * DAY
PLAIN = Retrieval()


def claim(name="a", text="床の間の花", **more) -> Claim:
    made = Claim(
        f"clm_{name}", "/", "internal", "internal", "project", "fact", text, content_hash(text), "{}", NOW, NOW, NOW,
        None, 0.0, 0.5, 0.5, None, None, 1,
    )  # fmt: skip
    return replace(made, **more)


def only(found, alpha=0.65, retrieval=PLAIN, query="花"):
    return scored(query, found, alpha, retrieval, NOW)


def test_the_score_is_what_its_parts_say():
    (one,) = only([Found(claim(confidence=0.8, anchor_at=NOW - 120 * DAY), 0.3, 0.5)])
    text, vector = math.sqrt(0.3 / 0.7), (0.5 - 0.1) / 0.8
    assert one.combined == pytest.approx(0.65 * vector + 0.35 * text, abs=1e-5)
    assert one.recency == pytest.approx(0.5)
    assert one.g == pytest.approx((0.6 + 0.4 * 0.5) * (0.5 + 0.5 * 0.8) * (0.3 + 0.7 * 0.5), abs=1e-5)
    assert one.score == pytest.approx(one.combined * one.g, abs=1e-5)
    (weighed,) = only([Found(claim(quality=0.2), 0.3, 0.5)], retrieval=Retrieval(use_quality=True))
    assert weighed.g == pytest.approx(0.8 * 0.75 * 1.0 * 0.6, abs=1e-5)


def test_a_lone_text_hit_is_worth_what_it_is_and_an_unrelated_vector_nothing():
    (one,) = only([Found(claim(), 0.4, None)])
    assert one.combined > LINE
    assert calibrated(0.0) == calibrated(0.1) == 0.0
    assert only([Found(claim(), None, 0.15)]) == []


def test_the_line_is_at_s_and_age_alone_drops_nothing():
    (old,) = only([Found(claim(anchor_at=0), 0.3, None)])
    assert old.score < LINE < old.combined


def test_what_shares_the_querys_words_is_never_dropped():
    (one,) = only([Found(claim(text="POST /subscriptions/{id}/cancel"), 0.001, 0.0)], query="cancel の命名")
    assert one.combined < LINE
    (exact,) = only([Found(claim(), None, 0.0, exact=True)])
    assert exact.exact


def test_alpha_follows_the_query_unless_the_policy_sets_it():
    assert alpha_of("`fetch_user()`", PLAIN) <= 0.5
    assert alpha_of("茶", PLAIN) <= 0.5
    assert (
        0.7 <= alpha_of("how do we usually arrange the flowers in the alcove when guests come in winter", PLAIN) <= 0.85
    )
    assert alpha_of("茶", Retrieval(alpha=0.9)) == 0.9


def test_the_half_life_is_that_of_the_kind_and_the_future_counts_as_now():
    assert recency_of(claim(kind="task", anchor_at=NOW - 14 * DAY), PLAIN, NOW) == pytest.approx(0.5)
    assert recency_of(claim(anchor_at=NOW + 9 * DAY), PLAIN, NOW) == 1.0
    other = Retrieval(half_life_by_kind={}, half_life_days=30)
    assert recency_of(claim(anchor_at=NOW - 30 * DAY), other, NOW) == pytest.approx(0.5)


def test_feedback():
    praised = with_signal(claim(anchor_at=0), "helpful", 1.0, NOW)
    assert (praised.utility, praised.confidence, praised.anchor_at) == (0.1, 0.55, NOW)
    blamed = with_signal(claim(anchor_at=0), "harmful", 0.5, NOW)
    assert (blamed.utility, blamed.confidence, blamed.anchor_at) == (-0.1, 0.45, 0)
    assert with_signal(claim(), "outdated", 1.0, NOW).confidence == 0.3
    assert with_signal(claim(), "duplicate", 1.0, NOW).utility == -0.05
    assert with_signal(claim(confidence=0.95), "helpful", 1.0, NOW).confidence == 1.0


def test_near_duplicates_give_way_and_the_order_is_by_score_then_age_then_id():
    told = {"a": ("集合は朝の九時に駅前の広場", 0.5), "b": ("集合は朝の九時に駅前の広場で", 0.49)}
    told["c"] = ("雨なら集合は十時に変わる", 0.45)
    found = [Found(claim(name, text), level, None) for name, (text, level) in told.items()]
    ranked = only(found)
    assert [one.claim.id for one in chosen(ranked, 2)] == ["clm_a", "clm_c"]
    alike = [Found(claim(name, f"話 {name}", created_at=at), 0.4, None) for name, at in (("x", 1), ("y", 2), ("w", 2))]
    assert [one.claim.id for one in only(alike)] == ["clm_w", "clm_y", "clm_x"]


@given(st.lists(st.tuples(st.floats(0, 0.99), st.floats(-1, 1), st.floats(-1, 1)), min_size=1, max_size=20))
def test_scores_lie_between_0_and_1_and_their_order_is_stable(parts):
    found = [Found(claim(str(n), f"t{n}", utility=u), text, near) for n, (text, near, u) in enumerate(parts)]
    ranked = only(found)
    assert all(0 <= one.score <= 1 for one in ranked)
    assert ranked == only(list(reversed(found)))
    assert all(0 <= text_of(each.text or 0) <= 1 for each in found)
