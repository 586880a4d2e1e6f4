"""The floor of a durable save: one-row transactions on SQLite, one after the other. `python -m bench.bare FILE SECONDS`
says "ready", begins at the first line on stdin, and answers with JSON on stdout.
"""

import json
import sys
import time

import apsw

from .messages import TEXT

TABLE = "create table if not exists note (id integer primary key, text text not null)"


def connect(path: str) -> apsw.Connection:
    connection = apsw.Connection(path)
    connection.set_busy_timeout(15_000)
    for statement in ("pragma journal_mode=wal", "pragma synchronous=full", TABLE):
        connection.execute(statement).fetchall()
    return connection


def save(connection: apsw.Connection) -> None:
    connection.execute("begin immediate")
    connection.execute("insert into note (text) values (?)", (TEXT,))
    connection.execute("commit")


def work(connection: apsw.Connection, seconds: float) -> tuple[list[float], int]:
    times: list[float] = []
    errors = 0
    stop = time.perf_counter() + seconds
    while (begin := time.perf_counter()) < stop:
        try:
            save(connection)
        except apsw.Error:
            errors += 1
            if connection.in_transaction:
                connection.execute("rollback")
        else:
            times.append(time.perf_counter() - begin)
    return times, errors


def main(path: str, seconds: float) -> None:
    connection = connect(path)
    save(connection)
    print("ready", flush=True)
    sys.stdin.readline()
    times, errors = work(connection, seconds)
    print(json.dumps({"times": times, "errors": errors}), flush=True)
    sys.stdin.read()  # the last one to close removes the WAL index, which is still to be read


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
