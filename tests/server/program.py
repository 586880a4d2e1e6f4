"""The workshop as a program: `python program.py` speaks stdio; clients in tests start it.

`python program.py GRACE CANCEL_GRACE` sets how long it waits for calls at the end.
"""

import sys

from tokonoma.server.stdio import claim_streams, serve

if __name__ == "__main__":
    from fixture import Workshop

    def listed() -> None:
        sys.stderr.write("listed\n")

    waits = dict(zip(("grace", "cancel_grace"), map(float, sys.argv[1:]), strict=False))
    sys.exit(0 if serve(Workshop(), *claim_streams(), after_list=listed, **waits) else 1)
