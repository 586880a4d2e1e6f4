"""Stand-ins: for each service a small server with state, strict as the service is, for tests without the internet.

with start_standin("github") as standin:
    standin.faults.script([answer(500), make_limit(standin.state, 2), drop(handled=True)])
    …                             # a client that talks to standin.base_url with standin.token
    standin.requests[0].status    # what came, and how it was answered
    standin.state.repositories    # what the service knows now
    standin.oauth.issue()         # a pair of tokens; .advance(3600) lets it expire, .refreshes counts
"""

from .faults import answer, drop, gzip_bomb, half_body, hang, hold, proceed, redirect
from .limits import make_error, make_limit
from .standin import SERVICES, Standin, start_standin

__all__ = [
    "SERVICES",
    "Standin",
    "answer",
    "drop",
    "gzip_bomb",
    "half_body",
    "hang",
    "hold",
    "make_error",
    "make_limit",
    "proceed",
    "redirect",
    "start_standin",
]
