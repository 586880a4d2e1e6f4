"""A server that fills its home and says when everything is committed and noted: filling.py HOME close|stay"""

import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from talk import Lines

from tokonoma.app import App
from tokonoma.app.store import find_heads_file
from tokonoma.journal.heads import read_heads
from tokonoma.store import sqlite


def fill(talk: Lines, first: int) -> None:
    for number in range(first, first + 12):
        talk.call(
            "memory", "save", title=f"memo {number}", content=f"word{number} tea and 茶 " * (1 + number % 4 * 300)
        )
        talk.call("items", "create_item", type="issue", title=f"item {number}", content=f"about {number} " * 40)
        talk.call("claims", "upsert", text=f"claim {number} holds", provenance={"note": "test"})
        talk.call("memory", "search", query=f"word{number}")


def wait_for(done) -> None:
    while not done():
        threading.Event().wait(0.02)


def main(home: str, end: str) -> None:
    sqlite.CHECKPOINT_PAGES = 10**9  # the log of a killed server holds what it wrote
    app = App({"home": home}, {})
    app.warm(serves=True)
    fill(Lines(app), 0 if end == "close" else 100)

    def is_embedded() -> bool:
        with app.database.reading() as rows:
            return rows.row("select count(*) from embedding_queue") == (0,)

    def is_noted() -> bool:
        app.journal.flush()
        with app.database.reading() as rows:
            last = rows.row("select hash from journal order by rowid desc limit 1")
        noted = read_heads(find_heads_file(app.home, app.database)).entries
        return last is not None and bool(noted) and noted[-1].hash == bytes(last[0]).hex()

    wait_for(is_embedded)
    Lines(app).call("memory", "save", title="last", content="the last one")
    wait_for(is_embedded)
    Lines(app).call("memory", "list")
    wait_for(is_noted)
    if end == "stay":
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.read()  # until it is killed
    app.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
