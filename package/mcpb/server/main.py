"""What Claude Desktop starts: the server on standard input and output. Its settings come in TOKONOMA_ variables."""

import sys

from tokonoma.cli import main

sys.exit(main(["stdio"]))
