"""The workshop as a program: `python program.py` speaks stdio; clients in tests start it."""

import sys

from tokonoma.edge.stdio import claim, serve

if __name__ == "__main__":
    from fixture import Workshop

    ends = claim()
    serve(Workshop(), *ends, after_list=lambda: sys.stderr.write("listed\n"))
