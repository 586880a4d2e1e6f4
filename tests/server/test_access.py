"""Whether somebody may still use what is open: asked once a second for each credential, in one place."""

from types import SimpleNamespace

import pytest

from tokonoma.core.call import Caller, Principal
from tokonoma.core.errors import Refusal, Unauthenticated, Unavailable
from tokonoma.core.reach import Reach
from tokonoma.server import access
from tokonoma.server.access import EVERY, AccessWatch


class House:
    """Credentials by token, a clock and the job, in the hands of a test."""

    def __init__(self, monkeypatch) -> None:
        self.reaches: dict[str, Reach | Exception] = {}
        self.asked: list[str] = []
        self.losses: list[tuple[str, str, bool]] = []
        self.at, self.started = 1000.0, 0
        monkeypatch.setattr(access, "time", SimpleNamespace(monotonic=lambda: self.at))
        self.watch = AccessWatch(self.ask, lambda: self)

    def ask(self, caller):
        assert caller.principal is None
        self.asked.append(caller.token)
        found = self.reaches[caller.token]
        if isinstance(found, Exception):
            raise found
        return Principal(caller.token, "key", found)

    def start(self, job):
        self.started, self.step = self.started + 1, job.step

    def follow(self, name, token="t", reach=Reach()):  # noqa: B008
        caller = Caller("http", token=token, principal=Principal(token, "key", reach))
        self.reaches.setdefault(token, reach)

        def on_loss(refusal: Refusal, ended: bool) -> None:
            self.losses.append((name, refusal.reason, ended))

        return self.watch.follow(caller, on_loss)

    def look(self):
        """After a second."""
        self.at += EVERY
        return self.step()


@pytest.fixture
def house(monkeypatch):
    return House(monkeypatch)


def test_a_credential_is_asked_for_once_a_second_however_much_it_has_open(house):
    for name in "abc":
        house.follow(name)
    house.follow("d", "other")
    assert house.step() == EVERY  # nothing is asked before a second has passed
    assert house.asked == []
    assert house.look() == EVERY
    assert sorted(house.asked) == ["other", "t"]
    house.at += EVERY / 4
    house.follow("e")
    assert house.step() == pytest.approx(EVERY * 3 / 4)
    assert (len(house.asked), house.losses) == (2, [])


def test_without_anything_open_nothing_is_asked(house):
    unfollow = house.follow("a")
    unfollow()
    assert house.look() is None
    assert house.asked == []


def test_the_owner_of_the_process_is_not_asked_for(house):
    house.watch.follow(Caller("stdio"), lambda refusal, ended: None)
    assert house.started == 0
    house.watch.follow(Caller("stdio", token="k", key="laptop"), lambda refusal, ended: None)
    assert house.started == 1


def test_all_that_a_credential_has_open_ends_with_it_once(house):
    house.follow("a")
    house.follow("b")
    house.follow("c", "other")
    house.reaches["t"] = Unauthenticated("no", reason="revoked_key")
    house.look()
    assert sorted(house.losses) == [("a", "revoked_key", True), ("b", "revoked_key", True)]
    house.look()
    assert len(house.losses) == 2


@pytest.mark.parametrize("error", [Unavailable("away"), RuntimeError("a fault")])
def test_what_cannot_be_known_ends_nothing(house, error):
    house.follow("a")
    house.reaches["t"] = error
    assert house.look() == EVERY
    assert house.losses == []
    house.reaches["t"] = Reach(mask=frozenset({"*"}))
    house.look()
    assert house.losses == [("a", "narrowed", False)]


WHOLE = Reach("/team", "/team", frozenset({"memory", "items"}), frozenset({"items.create_item"}), frozenset({"jira.*"}))


@pytest.mark.parametrize(
    ("changed", "is_smaller"),
    [
        (WHOLE, False),
        (Reach("/team", "/team/x", WHOLE.modules, WHOLE.mask, WHOLE.extras), False),
        (Reach("/team", "/team", None, WHOLE.mask, WHOLE.extras), False),
        (Reach("/team", "/team", WHOLE.modules, frozenset(), frozenset({"*"})), False),
        (Reach("/team/x", "/team/x", WHOLE.modules, WHOLE.mask, WHOLE.extras), True),
        (Reach("/", "/", WHOLE.modules, WHOLE.mask, WHOLE.extras), True),  # it loses the accounts of /team
        (Reach("/team", "/team", frozenset({"memory"}), WHOLE.mask, WHOLE.extras), True),
        (Reach("/team", "/team", WHOLE.modules, frozenset({"items.create_item", "memory"}), WHOLE.extras), True),
        (Reach("/team", "/team", WHOLE.modules, WHOLE.mask, frozenset({"jira.delete_issue"})), True),
        (Reach("/team", "/team", WHOLE.modules, WHOLE.mask, WHOLE.extras, "/"), True),
    ],
)
def test_a_smaller_reach_is_noticed_and_a_larger_one_is_not(house, changed, is_smaller):
    house.follow("a", reach=WHOLE)
    house.reaches["t"] = changed
    house.look()
    house.look()  # only once
    assert house.losses == ([("a", "narrowed", False)] if is_smaller else [])
