"""journal: every call leaves an entry. A write has stored its own, inside its transaction; the rest is written here."""

import time
from collections.abc import Callable, Iterator, Sequence

from tokonoma.core.call import Call
from tokonoma.core.errors import Refusal, format_refusal
from tokonoma.core.log import log

WriteEntry = Callable[[Call, str, str, int], None]
"""call, outcome, code word, duration in microseconds"""

Observe = Callable[[Call, str, int], None]
"""call, outcome, duration in microseconds"""


def journal(write: WriteEntry, observers: Sequence[Observe] = ()) -> Callable[[Call], Iterator[None]]:
    """`observers` see every call after its entry, such as metrics."""

    def stage(call: Call) -> Iterator[None]:
        start = time.perf_counter_ns()
        outcome, word = "ok", ""
        try:
            yield
        except Refusal as error:
            outcome, word = "refused", format_refusal(error)
            raise
        except BaseException as error:
            outcome, word = "failed", "internal"
            log(
                "error",
                "internal",
                request_id=call.request_id,
                module=call.module,
                tool=call.tool,
                error=_format_location(error),
            )
            raise
        finally:
            spent = (time.perf_counter_ns() - start) // 1000
            if outcome != "ok" or not call.journaled:
                write(call, outcome, word, spent)
            for observe in observers:
                observe(call, outcome, spent)

    return stage


def _format_location(error: BaseException) -> str:
    """Where it happened, without the text: an exception's message may hold what a user wrote."""
    trail = error.__traceback__
    place = ""
    while trail is not None:
        code = trail.tb_frame.f_code
        place = f"{code.co_filename.rsplit('tokonoma', 1)[-1]}:{trail.tb_lineno} {code.co_name}"
        trail = trail.tb_next
    return f"{type(error).__name__} at {place}"
