"""Scores of claims, as CONTRACTS has them. Pure."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core.policy import RetrievalSettings
from tokonoma.modules.claims.model import Claim, compute_hash
from tokonoma.modules.claims.ranking import (
    MIN_SCORE,
    ClaimHit,
    apply_signal,
    calibrate_similarity,
    choose_alpha,
    compute_recency,
    describe_doubts,
    order_diverse,
    scale_text_level,
    score_claims,
)

DAY = 86_400_000
NOW = 1_000 * DAY
PLAIN = RetrievalSettings()


def claim(name="a", text="床の間の花", **more) -> Claim:
    made = Claim(
        f"clm_{name}", "/", "internal", "internal", "project", "fact", text, compute_hash(text), "{}", NOW, NOW, NOW,
        None, 0.0, 0.5, 0.5, None, None, 1,
    )  # fmt: skip
    return replace(made, **more)


def only(found, alpha=0.65, retrieval=PLAIN, query="花"):
    return score_claims(query, found, alpha, retrieval, NOW)


def test_the_score_is_what_its_parts_say():
    (one,) = only([ClaimHit(claim(confidence=0.8, anchor_at=NOW - 120 * DAY), 0.3, 0.5)])
    text, vector = math.sqrt(0.3 / 0.7 / 1.3), ((0.5 - 0.3) / 0.7) ** 2
    assert one.combined == pytest.approx(0.65 * vector + 0.35 * text, abs=1e-5)
    assert one.recency == pytest.approx(0.5)
    assert one.g == pytest.approx((0.6 + 0.4 * 0.5) * (0.5 + 0.5 * 0.8) * (0.3 + 0.7 * 0.5), abs=1e-5)
    assert one.score == pytest.approx(one.combined * one.g, abs=1e-5)
    (weighed,) = only([ClaimHit(claim(quality=0.2), 0.3, 0.5)], retrieval=RetrievalSettings(use_quality=True))
    assert weighed.g == pytest.approx(0.8 * 0.75 * 1.0 * 0.6, abs=1e-5)


def test_a_lone_text_hit_is_worth_what_it_is_and_an_unrelated_vector_nothing():
    (one,) = only([ClaimHit(claim(), 0.4, None)])
    assert one.combined > MIN_SCORE
    assert calibrate_similarity(0.0) == calibrate_similarity(0.3) == 0.0
    assert only([ClaimHit(claim(), None, 0.4)]) == []
    assert only([ClaimHit(claim(), None, 0.41)])


def test_the_line_is_at_s_and_age_alone_drops_nothing():
    (old,) = only([ClaimHit(claim(anchor_at=0), 0.3, None)])
    assert old.score < MIN_SCORE < old.combined


def test_what_shares_the_querys_words_is_never_dropped():
    (one,) = only([ClaimHit(claim(text="POST /subscriptions/{id}/cancel"), 0.001, 0.0)], query="cancel の命名")
    assert one.combined < MIN_SCORE
    (exact,) = only([ClaimHit(claim(), None, 0.0, exact=True)])
    assert exact.exact


def test_alpha_follows_the_query_unless_the_policy_sets_it():
    assert choose_alpha("`fetch_user()`", PLAIN) <= 0.5
    assert choose_alpha("茶", PLAIN) <= 0.5
    assert (
        0.7
        <= choose_alpha("how do we usually arrange the flowers in the alcove when guests come in winter", PLAIN)
        <= 0.85
    )
    assert choose_alpha("茶", RetrievalSettings(alpha=0.9)) == 0.9


def test_the_half_life_is_that_of_the_kind_and_the_future_counts_as_now():
    assert compute_recency(claim(kind="task", anchor_at=NOW - 14 * DAY), PLAIN, NOW) == pytest.approx(0.5)
    assert compute_recency(claim(anchor_at=NOW + 9 * DAY), PLAIN, NOW) == 1.0
    other = RetrievalSettings(half_life_by_kind={}, half_life_days=30)
    assert compute_recency(claim(anchor_at=NOW - 30 * DAY), other, NOW) == pytest.approx(0.5)


def test_feedback():
    praised = apply_signal(claim(anchor_at=0), "helpful", 1.0, NOW)
    assert (praised.utility, praised.confidence, praised.anchor_at) == (0.1, 0.55, NOW // 4)
    blamed = apply_signal(claim(anchor_at=0), "harmful", 0.5, NOW)
    assert (blamed.utility, blamed.confidence, blamed.anchor_at) == (-0.1, 0.45, 0)
    assert apply_signal(claim(), "outdated", 1.0, NOW).confidence == 0.3
    assert apply_signal(claim(), "duplicate", 1.0, NOW).utility == -0.05
    assert apply_signal(claim(confidence=0.95), "helpful", 1.0, NOW).confidence == 1.0
    assert apply_signal(claim(anchor_at=NOW + DAY), "helpful", 1.0, NOW).anchor_at == NOW + DAY


@pytest.mark.parametrize("age", [0, 30, 120, 365, 2000])
def test_feedback_moves_a_claim_by_its_amount_and_at_most_by_a_quarter(age):
    start = claim(anchor_at=NOW - age * DAY)

    def score(signal, amount):
        return only([ClaimHit(apply_signal(start, signal, amount, NOW), 0.3, 0.5)])[0].score

    before = score("helpful", 0.0)
    for signal, sign in (("helpful", 1), ("harmful", -1), ("outdated", -1)):
        moved = [sign * (score(signal, amount) / before - 1) for amount in (0.01, 0.1, 0.25, 0.5, 1.0)]
        assert moved == sorted(moved)
        assert 0 < moved[0] < 0.005
        assert moved[-1] < 0.25
        # Twice the amount moves it about twice as far.
        assert moved[-1] / moved[-2] == pytest.approx(2, rel=0.2)


def test_feedback_on_one_claim_does_not_move_the_others():
    others = [ClaimHit(claim(str(n), f"話 {n}"), 0.3, None) for n in range(20)]
    praised = ClaimHit(claim("x", "話 x", utility=0.3), 0.3, None)
    alone = {one.claim.id: one.score for one in only(others)}
    assert alone.items() <= {one.claim.id: one.score for one in only([*others, praised])}.items()


def test_a_warning_says_what_many_said_and_weighs_it_against_help():
    assert describe_doubts({"harmful": 2.0, "duplicate": 9.0}) == ""
    assert "harmful (2) and outdated (1)" in describe_doubts({"harmful": 2.0, "outdated": 1.0})
    assert "calls this claim outdated (2.5)" not in describe_doubts({"outdated": 2.5})
    assert describe_doubts({"outdated": 3.0, "helpful": 9.0})
    assert describe_doubts({"outdated": 3.0, "helpful": 10.0}) == ""


def test_near_duplicates_give_way_and_the_order_is_by_score_then_age_then_id():
    told = {"a": ("集合は朝の九時に駅前の広場", 0.5), "b": ("集合は朝の九時に駅前の広場で", 0.49)}
    told["c"] = ("雨なら集合は十時に変わる", 0.45)
    found = [ClaimHit(claim(name, text), level, None) for name, (text, level) in told.items()]
    ranked = only(found)
    assert [one.claim.id for one in order_diverse(ranked)] == ["clm_a", "clm_c", "clm_b"]
    alike = [
        ClaimHit(claim(name, f"話 {name}", created_at=at), 0.4, None) for name, at in (("x", 1), ("y", 2), ("w", 2))
    ]
    assert [one.claim.id for one in only(alike)] == ["clm_w", "clm_y", "clm_x"]


@given(st.lists(st.tuples(st.floats(0, 0.99), st.floats(-1, 1), st.floats(-1, 1)), min_size=1, max_size=20))
def test_scores_lie_between_0_and_1_and_their_order_is_stable(parts):
    found = [ClaimHit(claim(str(n), f"t{n}", utility=u), text, near) for n, (text, near, u) in enumerate(parts)]
    ranked = only(found)
    assert all(0 <= one.score <= 1 for one in ranked)
    assert ranked == only(list(reversed(found)))
    assert all(0 <= scale_text_level(each.text or 0) <= 1 for each in found)


def test_the_order_of_pages_holds_every_claim_once_and_does_not_depend_on_their_number():
    found = [ClaimHit(claim(str(n), f"集合は朝の{n % 7}時に駅前 {n}"), 0.3 + n / 500, None) for n in range(60)]
    ranked = only(found)
    ordered = order_diverse(ranked)
    assert sorted(one.claim.id for one in ordered) == sorted(one.claim.id for one in ranked)
    assert ordered[0] == ranked[0]
    assert order_diverse([]) == []
