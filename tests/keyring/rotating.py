"""Rotates the keys of a keyring, and is killed in every batch: for a test.

Every attempt is a process of its own, and is killed in its first batch: by turns before the commit and after it. In
between, another process reads every secret.
"""

import os
import sys
from contextlib import contextmanager
from pathlib import Path

from tokonoma.keyring import rotate
from tokonoma.keyring.accounts import NewAccount, add_account, list_accounts, read_secrets
from tokonoma.keyring.data_keys import Keyring
from tokonoma.keyring.rotate import is_rotating, move_secrets, start_rotation
from tokonoma.keyring.source import HomeKey
from tokonoma.keyring.tables import TABLES
from tokonoma.store.database import open_database
from tokonoma.store.migrate import migrate


def fill(url: str, home: Path, count: int) -> int:
    database, keyring = open_database(url, durable=False), Keyring(HomeKey(home))
    migrate(database, "keyring", TABLES, lambda reason: None)
    with database.writing() as statements:
        for number in range(count // 2):
            secrets = {"access_token": f"a{number}", "refresh_token": f"r{number}"}
            add_account(statements, keyring, NewAccount("github", f"n{number}"), secrets)
    with database.writing() as statements:
        start_rotation(statements, keyring)
    database.close()
    return 0


def check(url: str, home: Path) -> int:
    """Read every secret; 3 if the rotation is not finished."""
    database, keyring = open_database(url, durable=False), Keyring(HomeKey(home))
    with database.reading() as rows:
        for account in list_accounts(rows):
            number = account.name[1:]
            found = read_secrets(rows, keyring, account)
            assert found == {"access_token": f"a{number}", "refresh_token": f"r{number}"}, account.name
        unfinished = is_rotating(rows)
    database.close()
    return 3 if unfinished else 0


def move(url: str, home: Path, late: bool) -> int:
    """Killed in its first batch, before the commit or after it."""
    database, keyring = open_database(url, durable=False), Keyring(HomeKey(home))

    @contextmanager
    def write():
        with database.writing() as statements:
            yield statements
            if not late:
                os.kill(os.getpid(), 9)
        os.kill(os.getpid(), 9)

    return sum(step.moved for step in move_secrets(write, keyring))


def run(work, *given) -> int:
    """The exit code of this work in a process of its own."""
    child = os.fork()
    if not child:
        code = 1
        try:
            code = work(*given)
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    url, home, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    rotate.BATCH = int(sys.argv[4])
    assert run(fill, url, home, count) == 0
    kills = 0
    while (found := run(check, url, home)) == 3:
        assert run(move, url, home, kills % 2 == 1) == -9
        kills += 1
    assert found == 0
    sys.stdout.write(str(kills))
