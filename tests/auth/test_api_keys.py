"""API keys on both databases."""

import pytest

from tokonoma.auth import api_keys as keys
from tokonoma.auth.api_keys import build_reach
from tokonoma.core.clock import now
from tokonoma.core.errors import Conflict, Invalid, Missing, Unauthenticated
from tokonoma.store.migrate import migrate


@pytest.fixture
def store(database):
    migrate(database, "auth", keys.TABLES, lambda reason: None)
    return database


def create(store, name, expires_at=None, **reach):
    with store.writing() as statements:
        return keys.create_key(statements, name, build_reach(**reach), expires_at)


def who(store, token):
    with store.reading() as rows:
        return keys.verify_token(rows, token)


def test_a_key_says_who_it_is_and_what_it_may_reach(store):
    token = create(
        store, name="laptop", root="/team/", default="/team/today", modules=["memory"], mask=["memory.delete"]
    )
    found = who(store, token)
    assert (found.name, found.kind, found.root, found.default) == ("key:laptop", "key", "/team", "/team/today")
    assert (found.reach.modules, found.reach.mask) == (frozenset({"memory"}), frozenset({"memory.delete"}))


def test_only_a_hash_is_kept(store):
    token = create(store, name="laptop")
    secret = token.split("_", 2)[2].encode()  # which may contain `_` itself
    with store.reading() as rows:
        (row,) = rows.rows("select * from api_key")
        assert not any(
            secret in (bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode()) for value in row
        )
        assert "hash" not in keys.list_keys(rows)[0].to_response()


@pytest.mark.parametrize(
    "token", ["", "tkn", "tkn_", "tkn_abc_", "other_abc_def", "tkn_000000000000_nothing", "tkn_鍵_鍵"]
)
def test_anything_else_is_nobody(store, token):
    create(store, name="laptop")
    with pytest.raises(Unauthenticated, match="keys create"):
        who(store, token)


def test_a_key_with_one_letter_changed_is_nobody(store):
    token = create(store, name="laptop")
    with pytest.raises(Unauthenticated):
        who(store, token[:-1] + ("A" if token[-1] != "A" else "B"))


def test_a_revoked_key_is_nobody_at_once_and_its_name_is_free(store):
    token = create(store, name="laptop")
    with store.writing() as statements:
        keys.revoke_key(statements, "laptop")
    with pytest.raises(Unauthenticated):
        who(store, token)
    assert who(store, create(store, name="laptop")).name == "key:laptop"
    with store.reading() as rows:
        assert [each.state for each in keys.list_keys(rows)].count("active") == 1
        assert keys.is_key_required(rows)


def test_an_expired_key_is_nobody(store):
    token = create(store, name="guest", expires_at=now() - 1)
    with pytest.raises(Unauthenticated):
        who(store, token)
    with store.reading() as rows:
        assert keys.list_keys(rows)[0].state == "expired"


def test_a_key_with_another_prefix_is_nobody(store):
    token = create(store, name="laptop")
    with pytest.raises(Unauthenticated):
        who(store, "abc" + token.removeprefix("tkn"))


def test_a_key_is_found_by_its_name_only_while_it_is_active(store):
    create(store, name="laptop")
    create(store, name="guest", expires_at=now() - 1)
    with store.reading() as rows:
        assert keys.find_active(rows, "laptop").name == "key:laptop"
        with pytest.raises(Unauthenticated, match="expired"):
            keys.find_active(rows, "guest")


@pytest.mark.parametrize("rule", ["Items", "items:all", "*.save", "items save", ""])
def test_a_mask_that_would_hide_nothing_is_refused(rule):
    with pytest.raises(Invalid):
        build_reach(mask=["memory", rule])


def test_names_are_unique_defaults_lie_inside_the_root_and_nobody_revokes_nothing(store):
    create(store, name="laptop")
    with pytest.raises(Conflict, match="already"):
        create(store, name="laptop")
    with pytest.raises(Conflict, match="inside the root"):
        create(store, name="other", root="/team", default="/elsewhere")
    with pytest.raises(Missing), store.writing() as statements:
        keys.revoke_key(statements, "nobody")


def test_a_key_is_required_from_the_first_one_until_access_is_opened(store):
    def required() -> bool:
        with store.reading() as rows:
            return keys.is_key_required(rows)

    assert not required()
    old = create(store, name="laptop")
    assert required()
    with pytest.raises(Conflict, match="in use: laptop"), store.writing() as statements:
        keys.open_access(statements)
    assert required()
    with store.writing() as statements:
        keys.revoke_key(statements, "laptop")
    assert required()
    with store.writing() as statements:
        assert keys.open_access(statements)
    assert not required()
    with pytest.raises(Unauthenticated):
        who(store, old)
    with store.writing() as statements:
        assert not keys.open_access(statements)
    create(store, name="another")
    assert required()


def test_an_older_store_with_revoked_keys_stays_closed(database):
    """Its migration is of a time when the rows themselves said that a key is required."""
    migrate(database, "auth", keys.TABLES[:2], lambda reason: None)
    with database.writing() as statements:
        statements.run(
            """insert into api_key (id, name, hash, root, start, mask, created_at, revoked_at)
            values ('a', 'a', :hash, '/', '/', '[]', 1, 2)""",
            hash=b"x",
        )
    migrate(database, "auth", keys.TABLES, lambda reason: None)
    with database.reading() as rows:
        assert keys.is_key_required(rows)
