"""Three processes that refresh an account until its last generation: for a test.

Now and then one is killed between the provider's answer and its save; another takes its place.
"""

import os
import random
import sys

from tokonoma.keyring.accounts import get_account
from tokonoma.keyring.data_keys import Keyring
from tokonoma.keyring.lease import store_refreshed, take_lease
from tokonoma.keyring.source import GivenKey
from tokonoma.store.database import open_database

KEYRING = Keyring(GivenKey("x", "ab" * 32))


def refresh(url: str, account_id: str, log: int, seed: int, rounds: int) -> None:
    chance, dies = random.Random(seed), seed % 1_000 == 0  # the first of each row of processes always dies
    store = open_database(url, durable=False)
    while True:
        with store.reading() as rows:
            seen = get_account(rows, account_id)
        if seen.generation > rounds:
            return
        with store.writing() as statements:
            lease = take_lease(statements, seen, seconds=0.05)
        if lease is None:
            continue
        dies = dies or chance.random() < 0.3
        os.write(log, f"{lease.generation} {'killed' if dies else 'asked'}\n".encode())
        if dies:
            os.kill(os.getpid(), 9)
        with store.writing() as statements:
            secrets = {"access_token": f"a{lease.generation + 1}"}
            stored = store_refreshed(statements, KEYRING, lease, secrets, None)
        if stored is not None:
            os.write(log, f"{lease.generation} stored\n".encode())


if __name__ == "__main__":
    url, account_id, log, rounds = sys.argv[1:]
    opened = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    seeds, running = [1_000, 2_000, 3_000], dict[int, int]()
    while seeds or running:
        for seed in seeds:
            child = os.fork()
            if not child:
                code = 1
                try:
                    refresh(url, account_id, opened, seed, int(rounds))
                    code = 0
                finally:
                    os._exit(code)
            running[child] = seed
        ended, status = os.wait()
        seed, code = running.pop(ended), os.waitstatus_to_exitcode(status)
        assert code in (0, -9), code
        seeds = [seed + 1] if code else []
