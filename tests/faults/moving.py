"""Moves a file of the vault to which others link, and kills itself at one step after another: for a test.

Each step is a process of its own, with a house of its own. A step is a file that is made durable, or renamed; the
process ends just before it.
"""

import os
import sys
from pathlib import Path

from talk import Lines

import tokonoma.files.atomic as atomic
from tokonoma.app import App

FILES = {"a.md": "[x](x.md) [[x]]\n", "b/b.md": "[x](../x.md)\n", "x.md": "# X\n[a](a.md)\n"}


def write_files(vault: Path) -> None:
    for path, text in FILES.items():
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_text(text)


def move(home: Path, last: int) -> int:
    """How many steps the move took; the process ends before step `last`."""
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1
        if steps == last:
            os._exit(9)

    write_files(home / "workspace" / "vault")
    app = App({"home": str(home), "log_level": "error", "durable": False}, {})
    talk = Lines(app)
    talk.call("vault", "ls")
    for name in ("fsync", "rename"):
        call = getattr(os, name)
        setattr(os, name, lambda *given, call=call, **named: (count(), call(*given, **named))[1])
    rename = atomic.rename_exclusive
    atomic.rename_exclusive = lambda *given: (count(), rename(*given))[1]
    talk.call("vault", "move", from_path="x.md", to_path="new/y.md")
    app.close()
    return steps


if __name__ == "__main__":
    homes, every = Path(sys.argv[1]), int(sys.argv[2])
    step = 0
    while True:
        step += every
        child = os.fork()
        if not child:
            move(homes / f"{step:03}", step)
            os._exit(0)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
            break
