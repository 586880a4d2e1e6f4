"""The workshop as a program: `python program.py` speaks stdio; clients in tests start it."""

import sys

from tokonoma.edge.stdio import claim, serve

if __name__ == "__main__":
    from fixture import Workshop

    def listed() -> None:
        sys.stderr.write("listed\n")

    serve(Workshop(), *claim(), after_list=listed)
