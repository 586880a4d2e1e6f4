"""Codes alone: counted as bits are, cut off where they should be, and good enough to propose the nearest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from search.vectors.fixture import like_texts

from tokonoma.search.vectors import codes as code
from tokonoma.search.vectors.codes import (
    BinaryCoder,
    Codes,
    count_differing_bits,
    propose_rows,
    rank_rows,
    select_nearest,
)

numbers = st.integers(0, 2**64 - 1)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=30), st.tuples(numbers, numbers))
def test_differing_bits_are_counted(rows: list[tuple[int, int]], asked: tuple[int, int]) -> None:
    found = count_differing_bits(np.asarray(rows, np.uint64).T.copy(), np.asarray(asked, np.uint64))
    assert found.tolist() == [sum((a ^ b).bit_count() for a, b in zip(row, asked, strict=True)) for row in rows]


def test_bits_are_counted_without_numpy_s_own_count(monkeypatch: pytest.MonkeyPatch) -> None:
    words = np.random.default_rng(0).integers(0, 2**63, 1000, dtype=np.uint64)
    wanted, found = np.empty(1000, np.uint8), np.empty(1000, np.uint8)
    code._count_ones(words, wanted)
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    code._count_ones(words, found)
    assert (found == wanted).all()
    assert found.tolist() == [int(word).bit_count() for word in words]


@given(st.integers(0, 2**32), st.integers(1, 60_000), st.integers(1, 500), st.sampled_from([2, 40, 500]))
def test_nearest_has_the_least_numbers(seed: int, count: int, most: int, spread: int) -> None:
    found = np.random.default_rng(seed).integers(0, spread, count).astype(np.uint16)
    places = select_nearest(found, most)
    assert len(set(places.tolist())) == len(places) >= min(most, count)
    assert sorted(found[places].tolist())[:most] == np.sort(found)[:most].tolist()


def test_nearest_leaves_out_what_is_blocked() -> None:
    found = np.full(50_000, 65_535, np.uint16)
    found[[7, 400, 40_000]] = [3, 1, 2]
    assert sorted(select_nearest(found, 100).tolist()) == [7, 400, 40_000]
    assert sorted(select_nearest(found[:500], 1_000).tolist()) == [7, 400]


@pytest.mark.parametrize(("dimension", "bits"), [(3, 512), (256, 512), (384, 512), (768, 1024), (1536, 1024)])
def test_the_rotation_keeps_products(dimension: int, bits: int) -> None:
    turn = code._build_rotation(dimension, bits)
    assert turn.shape == (dimension, bits)
    product = turn @ turn.T
    if bits >= dimension:
        assert product == pytest.approx(np.eye(dimension), abs=1e-4)
    else:  # fewer bits than dimensions: in the middle, not in each
        assert np.diag(product) == pytest.approx(np.ones(dimension), abs=0.01)
        assert abs(product - np.eye(dimension)).mean() < 0.05
    assert np.unique(np.abs(np.round(turn[0], 6))).size > 1


def test_the_rotation_is_the_same_everywhere() -> None:
    """Codes are stored; another rotation on another machine would make them noise."""
    signs = np.packbits(code._build_rotation(384, 512) > 0)
    assert np.bitwise_xor.reduce(signs.view(np.uint64)).item() == FINGERPRINT


FINGERPRINT = 4956774111743274024


def codes_of(vectors: np.ndarray, centred: bool) -> tuple[BinaryCoder, Codes]:
    coder = BinaryCoder(vectors.shape[1], vectors.mean(0) if centred else None)
    return coder, coder.encode(vectors)


@pytest.mark.parametrize("dimension", [64, 256, 384, 1536])
@pytest.mark.parametrize("lean", [0.0, 3.0])
def test_the_nearest_are_among_the_most_promising(dimension: int, lean: float) -> None:
    """Also where all vectors lean one way, as those of many models do."""
    made = like_texts(6_050, dimension, topics=30)
    made += np.float32(lean) / np.sqrt(dimension, dtype=np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    vectors, asked = made[:6_000], made[6_000:]
    coder, codes = codes_of(vectors, centred=True)
    hits = 0
    for each in asked:
        found = propose_rows(codes, coder.encode_query(each), None, 1_000)[:120]
        hits += len(np.intersect1d(found, np.argsort(-(vectors @ each))[:10]))
    assert hits / (10 * len(asked)) >= 0.99


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 1.0])
def test_what_is_blocked_is_never_proposed(share: float) -> None:
    vectors = like_texts(5_000, 64)
    coder, codes = codes_of(vectors, centred=False)
    blocked = np.random.default_rng(1).random(5_000) >= share
    for each in like_texts(20, 64, seed=3):
        found = propose_rows(codes, coder.encode_query(each), blocked, 200)
        assert not blocked[found].any()
        assert len(found) >= min(200, np.count_nonzero(~blocked))
        assert len(set(found.tolist())) == len(found)


def test_ranking_by_the_product_is_close_to_the_truth() -> None:
    vectors = like_texts(2_000, 256)
    coder, codes = codes_of(vectors, centred=True)
    asked = like_texts(1, 256, seed=4)[0]
    order = rank_rows(codes, coder.encode_query(asked), np.arange(2_000))
    true = np.argsort(np.argsort(-(vectors @ asked)))
    assert np.corrcoef(true[order], np.arange(2_000))[0, 1] > 0.95


def test_the_vector_itself_comes_first() -> None:
    vectors = like_texts(3_000, 384)
    coder, codes = codes_of(vectors, centred=True)
    for place in range(0, 3_000, 300):
        assert propose_rows(codes, coder.encode_query(vectors[place]), None, 100)[0] == place
