"""Comparing stored vectors."""

import numpy as np

from tokonoma.search.vectors.store import compare_pieces


def test_a_similarity_does_not_depend_on_what_else_is_compared():
    """Down to the last digit: else two hits that are equally near change places when other records come and go."""
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((60, 256)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    query = (vectors[0] + vectors[1]) / 2
    rows = [(number, 0, "en", vector.tobytes()) for number, vector in enumerate(vectors)]
    together = compare_pieces("sqlite", rows, query)
    for count in range(1, 12):
        for start in range(60 - count):
            some = compare_pieces("sqlite", rows[start : start + count], query)
            assert all(some[number].similarity == together[number].similarity for number in some)
