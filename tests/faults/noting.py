"""A process that writes and journals until it is killed, and tells each committed write: noting.py URL HEADS"""

import sys
from pathlib import Path

from tokonoma.core.call import OWNER, Call, Caller
from tokonoma.journal.heads import HeadsFile
from tokonoma.journal.writer import JournalWriter
from tokonoma.store.database import open_database


def main(url: str, heads: str) -> None:
    database = open_database(url)
    journal = JournalWriter(database.writing, lambda: "none", HeadsFile(Path(heads), database.reading))
    number = 0
    while True:
        number += 1
        call = Call("memory", "save", {}, Caller("stdio"), request_id=f"r{number}", trace_id="t", identified=OWNER)
        with journal.write(call) as tx:
            tx.run("insert into line (text) values (:text)", text=f"{number}:" * 300)
        journal.record(call, "ok", "", 1)  # one more, in a group
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
