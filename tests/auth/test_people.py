"""People, passwords, sessions and one-time links on both databases."""

import threading

import pytest

from tokonoma.auth import passwords, people, rate_limit, sessions, tables
from tokonoma.auth.passwords import PasswordCheck, hash_password, verify_password
from tokonoma.auth.sessions import Visitor
from tokonoma.core.call import OWNER
from tokonoma.core.errors import Conflict, Denied, Expired, Invalid, Limited, Missing, Unauthenticated
from tokonoma.core.reach import UNLIMITED, Reach
from tokonoma.store.migrate import migrate

WORDS = "correct horse battery"
STORED = hash_password(WORDS)  # one for all tests: it costs a fifth of a second
VISITOR = Visitor("203.0.113.9", "Firefox/1")


@pytest.fixture
def store(database):
    migrate(database, "auth", tables.TABLES, lambda reason: None)
    migrate(database, "rate", rate_limit.TABLES, lambda reason: None)
    return database


@pytest.fixture
def write(store):
    def run(function, *arguments, **named):
        with store.writing() as statements:
            return function(statements, *arguments, **named)

    return run


@pytest.fixture
def read(store):
    def run(function, *arguments, **named):
        with store.reading() as rows:
            return function(rows, *arguments, **named)

    return run


def add(write, name="ada", reach=UNLIMITED, stored=None):
    person = write(people.add_person, name, reach)
    write(people.set_password, person, stored)
    return person


def sign_in(write, person, days=14, visitor=VISITOR):
    return write(sessions.create_session, person.id, days, visitor)


def test_the_owner_is_a_person_without_limits_who_cannot_be_revoked(write, read):
    write(people.ensure_owner)
    write(people.ensure_owner)
    (owner,) = read(people.list_people)
    assert (owner.id, owner.name, owner.principal) == ("owner", "owner", OWNER)
    with pytest.raises(Denied, match="cannot be revoked"):
        write(people.revoke_person, "owner")
    with pytest.raises(Conflict):
        add(write, "owner")


def test_a_person_has_a_reach_and_a_name_that_the_journal_knows(write, read):
    reach = Reach("/team", "/team/ada", frozenset({"memory"}), frozenset({"*:destroy"}), frozenset({"github.*"}))
    add(write, reach=reach)
    found = read(people.find_person, "ada")
    assert found.reach == reach
    assert (found.principal.name, found.principal.kind, found.principal.person) == ("person:ada", "web", found.id)
    assert found.principal.reach == reach
    with pytest.raises(Conflict):
        add(write)
    with pytest.raises(Missing):
        read(people.find_person, "bob")


def test_a_revocation_ends_everything_and_frees_the_name(write, read, store):
    ada, bob = add(write, stored=STORED), add(write, "bob")
    token, other, link = sign_in(write, ada), sign_in(write, bob), write(sessions.create_ticket, ada.id)
    insert = """insert into oauth_grant (id, name, client, person, resource, scope, root, start, mask, extras,
    created_at) values (:id, :id, 'c', :person, 'r', 'mcp', '/', '/', '[]', '[]', 1)"""
    code = """insert into oauth_code (hash, client, redirect, challenge, resource, scope, person, root, start, mask,
    extras, expires_at) values (:hash, 'c', 'r', 'x', 'r', 'mcp', :person, '/', '/', '[]', '[]', 9)"""
    for person in (ada, bob):
        write(lambda statements, who: statements.run(insert, id=f"of-{who.name}", person=who.id), person)
        write(lambda statements, who: statements.run(code, hash=who.name.encode(), person=who.id), person)
    ended = write(people.revoke_person, "ada")
    assert (ended.sessions, ended.grants) == (1, 1)
    assert read(sessions.find_session, token) is None
    assert read(sessions.find_ticket, link) is None
    assert read(sessions.find_session, other).person.name == "bob"
    with store.reading() as rows:
        assert rows.rows("select id from oauth_grant where revoked_at is null") == [("of-bob",)]
        assert rows.rows("select person from oauth_code") == [(bob.id,)]
    with pytest.raises(Missing):
        write(people.revoke_person, "ada")
    assert read(people.read_password, "ada") == ("", None)
    again = add(write)
    assert again.id != ada.id


@pytest.mark.parametrize("text", ["short", "elevenchars", "x" * 1025, "あ" * 342])
def test_a_password_has_a_length(text):
    with pytest.raises(Invalid, match="at least 12"):
        hash_password(text)


def test_a_password_is_salted_and_compared_as_typed_in_any_form():
    stored = hash_password("ﾊﾟｽﾜｰﾄﾞ ４２ long")
    assert len(stored) == 49
    assert b"42" not in stored
    assert stored != hash_password("ﾊﾟｽﾜｰﾄﾞ ４２ long")
    assert verify_password(stored, "パスワード 42 long")
    assert not verify_password(stored, "パスワード 42 Long")
    assert not verify_password(None, "")


def test_an_unknown_person_costs_as_much_as_a_wrong_password(write, store, monkeypatch):
    derived = []
    derive = passwords._derive
    monkeypatch.setattr(passwords, "_derive", lambda *given: derived.append(given[2]) or derive(*given))
    add(write, stored=STORED)
    add(write, "bob")
    check = PasswordCheck(store.reading, store.writing)
    said = []
    for number, name in enumerate(("ada", "bob", "nobody", "\ud800", "a\0")):
        with pytest.raises(Unauthenticated) as refused:
            check.check(name, "wrong", f"203.0.113.{number}")
        said.append((refused.value.message, refused.value.reason))
    assert len(set(said)) == 1
    assert derived == [16] * 5
    assert check.check("ada", WORDS, "203.0.113.9")[1] == STORED


def test_tries_are_bounded_by_address_and_by_person_for_all_processes(write, store, monkeypatch):
    monkeypatch.setattr(passwords, "verify_password", lambda stored, text: False)
    one, two = (PasswordCheck(store.reading, store.writing) for _ in range(2))

    def attempt(check, name, remote):
        with pytest.raises((Unauthenticated, Limited)) as refused:
            check.check(name, "wrong", remote)
        return refused.value.kind

    from_one_address = [attempt((one, two)[number % 2], f"n{number}", "203.0.113.1") for number in range(7)]
    assert from_one_address == ["unauthenticated"] * 5 + ["limited"] * 2
    for_one_person = [attempt((one, two)[number % 2], "ada", f"203.0.114.{number}") for number in range(7)]
    assert for_one_person == ["unauthenticated"] * 5 + ["limited"] * 2
    from_one_network = [attempt(one, f"m{number}", f"2001:db8::{number}") for number in range(7)]
    assert from_one_network == ["unauthenticated"] * 5 + ["limited"] * 2
    assert attempt(one, "carol", "2001:db8:0:1::1") == "unauthenticated"


def test_only_some_wait_for_their_turn(monkeypatch):
    inside, go = threading.Event(), threading.Event()

    def derive(*given):
        inside.set()
        go.wait()
        return b""

    monkeypatch.setattr(passwords, "_derive", derive)
    threads = [threading.Thread(target=verify_password, args=(None, "x")) for _ in range(passwords.MAX_WAITING)]
    for thread in threads:
        thread.start()
    inside.wait()
    while passwords._waiting._value:  # until all of them wait or work
        pass
    with pytest.raises(Limited, match="at this moment"):
        verify_password(None, "x")
    go.set()
    for thread in threads:
        thread.join()
    assert verify_password(None, "x") is False


def test_a_session_is_stored_as_a_hash_and_says_where_it_is(write, read, store):
    ada = add(write)
    token = sign_in(write, ada, visitor=Visitor("203.0.113.9", "x" * 500))
    found = read(sessions.find_session, token)
    assert (found.person.name, found.remote, found.agent) == ("ada", "203.0.113.9", "x" * 200)
    assert found.to_response().items() >= {"person": "ada", "remote": "203.0.113.9"}.items()
    assert found.csrf not in ("", token)
    with store.reading() as rows:
        (row,) = rows.rows("select * from web_session")
    assert not any(token.encode() in (each if isinstance(each, bytes) else str(each).encode()) for each in row)
    for wrong in ("", token[:-1], found.hash.hex(), "\ud800"):
        assert read(sessions.find_session, wrong) is None


def test_a_session_ends_by_time_by_hand_and_by_a_new_password(write, read, frozen_clock):
    ada, bob = add(write), add(write, "bob")
    tokens = [sign_in(write, ada, days=1), sign_in(write, ada), sign_in(write, bob)]
    frozen_clock.advance(86_400_000)
    assert [read(sessions.find_session, token) is None for token in tokens] == [True, False, False]
    tokens = [*tokens[1:], sign_in(write, ada)]
    kept = read(sessions.find_session, tokens[0])
    assert len(read(sessions.list_sessions, ada.id)) == 2
    assert write(sessions.end_other_sessions, kept) == 1
    assert [read(sessions.find_session, token) is None for token in tokens] == [False, False, True]
    assert write(people.set_password, ada, STORED) == 1
    assert [read(sessions.find_session, token) is None for token in tokens] == [True, False, True]
    write(sessions.end_session, read(sessions.find_session, tokens[1]))
    assert read(sessions.list_sessions) == []


def test_use_is_noted_once_a_minute(write, read, frozen_clock):
    token = sign_in(write, add(write))
    found = read(sessions.find_session, token)
    assert not sessions.is_use_due(found)
    frozen_clock.advance(60_000)
    assert sessions.is_use_due(found)
    write(sessions.note_use, found)
    assert not sessions.is_use_due(read(sessions.find_session, token))


def test_a_password_that_was_changed_meanwhile_begins_no_session(write):
    ada = add(write, stored=STORED)
    assert write(sessions.begin_by_password, ada.id, STORED, 1, VISITOR)
    for other in (None, STORED[:-1] + b"x"):
        write(people.set_password, ada, other)
        with pytest.raises(Unauthenticated):
            write(sessions.begin_by_password, ada.id, STORED, 1, VISITOR)


def test_a_link_is_good_once_for_five_minutes(write, read, frozen_clock):
    write(people.ensure_owner)
    link = write(sessions.create_ticket, "owner", "/journal?x=1")
    assert [read(sessions.find_ticket, link).leads_to for _ in range(2)] == ["/journal?x=1"] * 2
    frozen_clock.advance(299_999)
    assert write(sessions.use_ticket, link).person.is_owner
    with pytest.raises(Expired):
        write(sessions.use_ticket, link)
    late, withdrawn = (write(sessions.create_ticket, "owner") for _ in range(2))
    write(sessions.withdraw_ticket, withdrawn)
    frozen_clock.advance(300_000)
    for gone in (late, withdrawn, "", "x"):
        with pytest.raises(Expired):
            write(sessions.use_ticket, gone)


def test_sixteen_at_once_use_a_link_once(write, store):
    write(people.ensure_owner)
    link, start, used = write(sessions.create_ticket, "owner"), threading.Barrier(16), []

    def use():
        start.wait()
        try:
            with store.writing() as statements:
                sessions.use_ticket(statements, link)
            used.append("in")
        except Expired:
            used.append("late")

    threads = [threading.Thread(target=use) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(used) == ["in"] + ["late"] * 15


@pytest.mark.parametrize("path", ["", "x", "//evil.example", "/\\evil.example", "/a\\b", "https://x", "/a\nb", "/\t/x"])
def test_a_link_leads_to_a_page_of_ours(write, path):
    write(people.ensure_owner)
    with pytest.raises(Invalid):
        write(sessions.create_ticket, "owner", path)
