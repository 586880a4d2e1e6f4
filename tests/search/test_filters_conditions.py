"""Conditions joined by and, or and not, against the same thing said in Python."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from search.fixture import IndexFixture

from tokonoma.core.query import AllOf, AnyOf, Condition, NoneOf

FACTS = {f"d{a}{b}{c}": {"a": a, "b": b, "c": c} for a in "xyz" for b in "xy" for c in ("x", None)}

leaves = st.builds(
    lambda key, value: Condition(key, "is", (value,)), st.sampled_from("abc"), st.sampled_from("xyz")
) | st.builds(lambda key: Condition(key, "exists", (True,)), st.sampled_from("abc"))
trees = st.recursive(
    leaves,
    lambda inner: (
        st.builds(NoneOf, inner)
        | st.builds(AllOf, st.lists(inner, max_size=3).map(tuple))
        | st.builds(AnyOf, st.lists(inner, max_size=3).map(tuple))
    ),
    max_leaves=8,
)


def holds(test, facts) -> bool:
    if isinstance(test, NoneOf):
        return not holds(test.part, facts)
    if isinstance(test, AllOf):
        return all(holds(part, facts) for part in test.parts)
    if isinstance(test, AnyOf):
        return any(holds(part, facts) for part in test.parts)
    return facts[test.key] is not None if test.operator == "exists" else facts[test.key] == test.values[0]


@pytest.fixture
def shelf(database) -> IndexFixture:
    made = IndexFixture(database)
    for name, facts in FACTS.items():
        made.put(name, "lamp", facts=[(key, value) for key, value in facts.items() if value is not None])
    return made


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=50)
@given(test=trees)
def test_trees_of_conditions_let_through_what_they_say(shelf, test):
    wanted = sorted(name for name, facts in FACTS.items() if holds(test, facts))
    assert sorted(shelf.find("lamp", test, limit=50)) == wanted
    assert sorted(shelf.find("", test, limit=50)) == wanted
