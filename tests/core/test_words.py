"""Cursors, ids, clocks, spaces, stops and promises."""

import re
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.core import clock, cursor, ids
from tokonoma.core import namespaces as spaces
from tokonoma.core.call import Principal
from tokonoma.core.cancellation import CancelToken
from tokonoma.core.deferred import Deferred
from tokonoma.core.errors import Invalid, Unavailable
from tokonoma.core.reach import Reach
from tokonoma.core.suggestions import find_nearest

KEY = Principal("key:k", "key", Reach(root="/team", default="/team/today"))


@given(st.text(max_size=5), st.lists(st.one_of(st.integers(), st.text()), max_size=4))
def test_a_cursor_comes_back_as_it_went(kind, position):
    assert cursor.decode(kind, cursor.encode(kind, *position)) == position


@given(st.text(max_size=60))
def test_a_foreign_cursor_is_refused_and_says_what_to_do(text):
    with pytest.raises(Invalid, match="first page"):
        cursor.decode("journal", text)


def test_a_cursor_of_another_list_is_refused():
    with pytest.raises(Invalid):
        cursor.decode("memos", cursor.encode("journal", 1))


def test_uuid7_is_well_formed_unique_and_in_order_of_time():
    made = [ids.uuid7() for _ in range(2000)]
    assert len(set(made)) == 2000
    assert all(
        re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", each) for each in made
    )
    stamps = [each[:13] for each in made]
    assert stamps == sorted(stamps)


@given(st.integers(min_value=0, max_value=253402300799999))
def test_times_come_back_to_the_millisecond(moment):
    assert clock.parse_time(clock.format_time(moment)) == moment


@pytest.mark.parametrize(
    ("asked", "space"),
    [
        (None, "/team/today"),
        ("", "/team/today"),
        ("x", "/team/today/x"),
        ("./x", "/team/today/x"),
        ("../x", "/team/x"),
        ("..", "/team"),
        ("/", "/team"),
        ("/x/y", "/team/x/y"),
        ("/x/../y/", "/team/y"),
    ],
)
def test_namespaces_resolve_like_folders(asked, space):
    assert spaces.resolve_namespace(asked, KEY) == space


@pytest.mark.parametrize("asked", ["../..", "/..", "x/../../..", "a\nb"])
def test_no_namespace_leads_above_the_root(asked):
    with pytest.raises(Invalid):
        spaces.resolve_namespace(asked, KEY)


@given(st.text(alphabet="ab./", max_size=12))
def test_whatever_is_asked_stays_inside_the_root(asked):
    try:
        space = spaces.resolve_namespace(asked, KEY)
    except Invalid:
        return
    assert spaces.is_inside(space, "/team")
    assert spaces.resolve_namespace(spaces.format_namespace(space, KEY), KEY) == space


def test_a_stop_runs_its_hooks_once_and_keeps_the_first_reason():
    stop, ran = CancelToken(), []
    with stop.attach_during(lambda: ran.append("a")):
        stop.cancel("timeout")
        stop.cancel("cancelled")
    assert (ran, stop.reason) == (["a"], "timeout")
    with pytest.raises(Unavailable, match="time limit"):
        stop.check()
    stop.on_cancel(lambda: ran.append("late"))
    assert ran == ["a", "late"]


def test_a_hook_is_not_called_after_its_block():
    stop, ran = CancelToken(), []
    with stop.attach_during(lambda: ran.append("a")):
        pass
    stop.cancel("cancelled")
    assert ran == []


def test_a_promise_settles_once_whoever_comes_first():
    later: Deferred[int] = Deferred()
    heard: list[tuple[int | None, BaseException | None]] = []
    later.then(lambda value, error: heard.append((value, error)))
    threads = [threading.Thread(target=later.resolve, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    later.then(lambda value, error: heard.append((value, error)))
    assert len(heard) == 2
    assert heard[0] == heard[1]


@pytest.mark.parametrize(("asked", "meant"), [("stauts", "status"), ("relation_save", "relation.save"), ("zzz", None)])
def test_near_misses_find_the_name(asked, meant):
    found = find_nearest(asked, ["status", "where", "recent", "relation.save"])
    assert found[:1] == ([meant] if meant else [])
