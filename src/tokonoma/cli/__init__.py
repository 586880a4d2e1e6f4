"""The command line. `stdio` is answered before anything heavy is imported: its start is what every client waits for."""

import gc
import sys
from collections.abc import Sequence

GC_THRESHOLDS = (20_000, 20, 50)
"""What a call makes is gone when it ends, and hardly any of it points at itself in a circle. To look for circles as
often as Python does unasked takes a tenth of a search, and of a start."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The console script. Everything but `stdio` goes through click, which ends the process itself."""
    from tokonoma.cli.fast_flags import parse_stdio_flags

    gc.set_threshold(*GC_THRESHOLDS)
    given = sys.argv[1:] if arguments is None else list(arguments)
    flags = parse_stdio_flags(given, piped=not _stdin_is_terminal())
    if flags is not None:
        from tokonoma.cli.run_stdio import run_stdio

        return run_stdio(flags)
    from tokonoma.cli.program import program

    program.main(args=given, prog_name="tokonoma")
    return 0


def _stdin_is_terminal() -> bool:
    # A process may be started without any standard input: then there is no stream at all.
    return sys.stdin is not None and sys.stdin.isatty()  # pyright: ignore[reportUnnecessaryComparison]
