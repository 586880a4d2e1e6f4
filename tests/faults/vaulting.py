"""Writes to the vault without end, and says after each that it was acknowledged: for tests that kill it."""

import sys

from talk import Lines

from tokonoma.app import App

home, first = sys.argv[1], int(sys.argv[2])
app = App({"home": home, "log_level": "error"}, {})
talk = Lines(app)
number = first
while True:
    number += 1
    talk.call("vault", "write", path="a.md", content=f"{number}:" * 3000, mode="overwrite")
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()
