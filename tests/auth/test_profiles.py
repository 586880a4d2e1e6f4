"""Profiles: reaches with a name, on both databases."""

import pytest

from tokonoma.auth import profiles
from tokonoma.auth.api_keys import build_reach
from tokonoma.auth.tables import TABLES
from tokonoma.core.errors import Missing
from tokonoma.store.migrate import migrate

READER = build_reach(root="/team", default="/team/x", mask=["*:write", "*:destroy"], extras=["github.merge_pr"])


@pytest.fixture
def store(database):
    migrate(database, "auth", TABLES, lambda reason: None)
    return database


def test_a_profile_is_stored_replaced_and_removed(store):
    with store.writing() as statements:
        profiles.save_profile(statements, "reader", READER)
        profiles.save_profile(statements, "another", build_reach())
    with store.reading() as rows:
        assert [each.name for each in profiles.list_profiles(rows)] == ["another", "reader"]
        first = profiles.find_profile(rows, "reader")
    assert first.reach == READER
    with store.writing() as statements:
        profiles.save_profile(statements, "reader", build_reach(modules=[]))
        changed = profiles.find_profile(statements, "reader")
        assert (changed.reach, changed.created_at) == (build_reach(modules=[]), first.created_at)
        profiles.remove_profile(statements, "reader")
        with pytest.raises(Missing, match="There are: another"):
            profiles.remove_profile(statements, "reader")
        with pytest.raises(Missing, match="Did you mean 'another'"):
            profiles.find_profile(statements, "anothr")
