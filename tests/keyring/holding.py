"""Connects accounts with the secrets that it reads from standard input, uses them in every way, and waits: for a test.

Everything that it could say of a secret goes to standard output and to the log.
"""

import json
import sys
import traceback

from tokonoma.app import App
from tokonoma.app.keyring import open_keyring
from tokonoma.core.log import log
from tokonoma.keyring.accounts import NewAccount, add_account, read_secrets, replace_account
from tokonoma.keyring.data_keys import Keyring
from tokonoma.keyring.lease import store_refreshed, take_lease
from tokonoma.keyring.rotate import move_secrets, start_rotation
from tokonoma.keyring.source import GivenKey


def say(value: object) -> None:
    log("info", "said", value=repr(value))
    sys.stdout.write(f"{value!r} {value}\n")


def attempt(work) -> None:
    try:
        work()
    except Exception as error:
        say(error)
        sys.stdout.write("".join(traceback.format_exception(error)) + repr(vars(error)))


def use_all(home: str, url: str, canaries: list[str]) -> None:
    app = App({"home": home, "database_url": url, "durable": False, "log_level": "debug"}, {})
    keyring = open_keyring(app)
    canary, new = canaries[0], NewAccount("github", "")
    account = None
    for number, canary in enumerate(canaries):
        new = NewAccount("github", f"n{number}", kind="oauth")
        with app.write_as_owner("accounts.connect") as statements:
            account = add_account(statements, keyring, new, {"access_token": canary[::-1]})
            lease = take_lease(statements, account)
            assert lease is not None
            pair = {"access_token": canary, "refresh_token": canary}
            account = store_refreshed(statements, keyring, lease, pair, 1)
            assert account is not None
        say(account)
        with app.database.reading() as rows:
            say(read_secrets(rows, keyring, account))
    assert account is not None
    broken = account
    with app.write_as_owner("keyring.rotate") as statements:
        start_rotation(statements, keyring)
    for step in move_secrets(app.database.writing, keyring):
        say(step)
    with app.database.writing() as statements:
        statements.run("update account_secret set sealed = :value where account = :id", value=b"x", id=broken.id)
    with app.database.reading() as rows:
        wrong = Keyring(GivenKey("x", "ab" * 32))
        for keys in (keyring, wrong):
            attempt(lambda keys=keys: read_secrets(rows, keys, broken))
    with app.database.writing() as statements:
        attempt(lambda: add_account(statements, keyring, new, {"access_token": canary}))
        attempt(lambda: replace_account(statements, keyring, new, {"Bad Name": canary}))
        attempt(lambda: replace_account(statements, keyring, NewAccount("github", "none"), {"access_token": canary}))
    app.journal.flush()
    sys.stdout.write("\ndone\n")
    sys.stdout.flush()
    sys.stdin.readline()
    app.close()


if __name__ == "__main__":
    use_all(sys.argv[1], sys.argv[2], json.loads(sys.stdin.readline()))
