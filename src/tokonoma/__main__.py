"""`python -m tokonoma`."""

import sys

from tokonoma.cli import main

sys.exit(main())
