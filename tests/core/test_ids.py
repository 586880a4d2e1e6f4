"""Ids: well formed, unique, in order of time."""

import re

from tokonoma.core import ids


def test_uuid7_is_well_formed_unique_and_in_order_of_time():
    made = [ids.uuid7() for _ in range(2000)]
    assert len(set(made)) == 2000
    assert all(
        re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", each) for each in made
    )
    stamps = [each[:13] for each in made]
    assert stamps == sorted(stamps)
