"""A process that writes until it is killed, and tells each number once it is committed: scribbling.py URL FIRST"""

import sys

from tokonoma.store.database import open_database


def main(url: str, number: int) -> None:
    database = open_database(url)
    while True:
        number += 1
        with database.writing() as tx:
            # Two tables and some size: a kill may hit the middle of a transaction, of the log, or of a checkpoint.
            tx.run("insert into line (id, text) values (:id, :text)", id=number, text=f"{number}:" * 3000)
            tx.run("insert into twin (id) values (:id)", id=number)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
