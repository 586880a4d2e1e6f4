"""`python -m tokonoma`: the same as the program `tokonoma`."""

import sys

from tokonoma.cli import main

if __name__ == "__main__":
    sys.exit(main())
