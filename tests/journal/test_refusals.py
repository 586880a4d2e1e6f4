"""Callers that were turned away: what is written of them, and how little of a flood."""

import itertools

import pytest

from tokonoma.core.call import Caller
from tokonoma.journal import refusals
from tokonoma.journal.refusals import ENTRIES, ENTRIES_PER_ADDRESS, OTHERS, SECONDS, RefusalRecorder


class Desk:
    def __init__(self) -> None:
        self.at = 0.0
        self.entries = []
        self.recorder = RefusalRecorder(self.entries.append, lambda: self.at)

    def refuse(self, remote: str | None, times: int = 1) -> None:
        for _ in range(times):
            self.recorder.record(Caller("http", token="tkn_x", remote=remote), "unauthenticated.unknown_key", "/mcp")

    def written(self) -> list[tuple[str | None, str]]:
        return [(entry.remote, entry.code) for entry in self.entries]


@pytest.fixture
def desk(capsys):
    desk = Desk()
    yield desk
    desk.recorder.close()


def test_a_flood_from_one_address_is_a_few_entries_and_a_count(desk):
    desk.refuse("203.0.113.9", 1000)
    assert desk.written() == [("203.0.113.9", "unauthenticated.unknown_key")] * ENTRIES_PER_ADDRESS
    desk.refuse("198.51.100.1")  # others are still written
    desk.at += SECONDS
    desk.recorder.flush()
    assert desk.written()[ENTRIES_PER_ADDRESS:] == [
        ("198.51.100.1", "unauthenticated.unknown_key"),
        ("203.0.113.9", f"suppressed.{1000 - ENTRIES_PER_ADDRESS}"),
    ]
    desk.refuse("203.0.113.9")  # the next minute begins
    assert desk.written()[-1] == ("203.0.113.9", "unauthenticated.unknown_key")


def test_a_flood_from_many_addresses_is_bounded_in_entries_and_in_memory(desk):
    for number in range(20_000):
        desk.refuse(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert len(desk.entries) == ENTRIES
    assert len(desk.recorder._minutes) <= ENTRIES
    desk.at += SECONDS
    desk.recorder.flush()
    assert desk.written()[-1] == (OTHERS, f"suppressed.{20_000 - ENTRIES}")
    assert not desk.recorder._minutes


def test_the_addresses_of_one_ipv6_network_are_one_sender(desk):
    for number in range(50):
        desk.refuse(f"2001:db8:0:1:{number:x}::1")
    desk.refuse("2001:db8:0:2::1")
    desk.refuse("::ffff:203.0.113.9")
    assert len(desk.entries) == ENTRIES_PER_ADDRESS + 2


def test_what_was_only_counted_is_written_at_the_end(desk):
    desk.refuse(None, 7)
    desk.recorder.close()
    assert desk.written()[-1] == (None, "suppressed.2")


def test_a_flood_that_just_ends_is_counted_without_another_refusal(monkeypatch, capsys):
    fired = []

    class Timer:
        daemon = False

        def __init__(self, seconds, action):
            self.action = action

        def start(self):
            fired.append(self.action)

        def cancel(self):
            pass

    monkeypatch.setattr(refusals.threading, "Timer", Timer)
    desk = Desk()
    desk.refuse("203.0.113.9", 10)
    assert len(fired) == 1  # one timer, however many are counted
    fired.pop()()
    assert len(fired) == 1  # too early: once more
    desk.at += SECONDS
    fired.pop()()
    assert (desk.written()[-1], fired) == (("203.0.113.9", "suppressed.5"), [])


def test_every_refusal_is_counted_by_the_observers(desk):
    codes = []
    desk.recorder.observers.append(codes.append)
    desk.refuse("203.0.113.9", 100)
    assert [(code, len(list(each))) for code, each in itertools.groupby(codes)] == [
        ("unauthenticated.unknown_key", 100)
    ]


def test_a_place_that_no_database_takes_is_written_without_it(desk):
    desk.recorder.record(Caller("http", remote="203.0.113.9"), "denied.host", "/a\0b" + "x" * 1000)
    (entry,) = desk.entries
    assert entry.tool == ("/a\ufffdb" + "x" * 1000)[:64]
