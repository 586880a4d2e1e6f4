"""When an account was used last: stored by a job, at most once an hour, never later than another process has stored."""

import pytest

from tokonoma.app.keyring import open_keyring
from tokonoma.core.concurrency import Job
from tokonoma.keyring.accounts import Account, get_account
from tokonoma.services.connect import ServiceConnector
from tokonoma.services.uses import PAUSE, AccountUses


class Hours:
    """A clock that tests move, and the jobs that were started."""

    def __init__(self, house) -> None:
        self.house, self.at, self.jobs = house, 10 * PAUSE, list[Job]()
        self.uses = AccountUses(house.app.database, self.jobs.append, lambda: self.at)

    def run_jobs(self) -> None:
        while self.jobs:
            assert self.jobs.pop().step() is None

    def read(self, account: Account) -> Account:
        with self.house.app.database.reading() as rows:
            return get_account(rows, account.id)


@pytest.fixture
def hours(house) -> Hours:
    return Hours(house)


def test_a_use_is_stored_once_an_hour(house, hours):
    account = house.add()
    for _ in range(100):
        hours.uses.note(hours.read(account))
    assert len(hours.jobs) == 1
    assert hours.read(account).used_at is None  # not on the path of the call
    hours.run_jobs()
    assert hours.read(account).used_at == 10 * PAUSE
    hours.at += PAUSE - 1
    hours.uses.note(hours.read(account))
    assert hours.jobs == []
    hours.at += 1
    hours.uses.note(hours.read(account))
    hours.run_jobs()
    assert hours.read(account).used_at == 11 * PAUSE


def test_what_another_process_has_stored_is_not_stored_again(house, hours):
    account, other = house.add(), Hours(house)
    hours.uses.note(account)
    hours.run_jobs()
    other.at += PAUSE // 2
    other.uses.note(other.read(account))
    assert other.jobs == []
    late = Hours(house)
    late.at -= PAUSE
    late.uses.note(account)  # read before the others have stored
    late.run_jobs()
    assert hours.read(account).used_at == 10 * PAUSE


def test_a_call_marks_its_account(house, hours, monkeypatch):
    account, idle = house.add("home"), house.add("work")
    connector = ServiceConnector(house.app.database, open_keyring(house.app), house.time.timing, hours.uses)
    monkeypatch.setattr(house.app._services, "_value", connector)
    assert house.call(account="home")["status"] == 200
    hours.run_jobs()
    assert hours.read(account).used_at == 10 * PAUSE
    assert hours.read(account).to_response()["used_at"] == "1970-01-01T10:00:00.000Z"
    assert hours.read(idle).used_at is None
