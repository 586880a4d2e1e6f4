"""Writes to the vault without end, and says after each that it was acknowledged: for tests that kill it."""

import sys

from talk import Lines

from tokonoma.app import App

home, first, mode = sys.argv[1], int(sys.argv[2]), sys.argv[3]
app = App({"home": home, "log_level": "error"}, {})
talk = Lines(app)
number, times = first, 300 if mode == "append" else 3000
while True:
    number += 1
    talk.call("vault", "write", path="a.md", content=f"{number}:" * times, mode=mode)
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()
