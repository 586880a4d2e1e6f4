"""A process that reads a number, adds one and writes it back, many times: python counting.py URL TIMES"""

import sys

from tokonoma.store.database import open_database


def main(url: str, times: int) -> None:
    database = open_database(url)
    sys.stdin.readline()  # wait for the others
    for _ in range(times):
        with database.writing() as tx:
            row = tx.row("select number from counter where id = 1 {for_update}")
            assert row is not None
            tx.run("update counter set number = :number where id = 1", number=row[0] + 1)
    database.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
