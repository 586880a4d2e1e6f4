"""guard: the policy is asked on the way in, and decides what may leave on the way out."""

from collections.abc import Callable, Iterator

import orjson

from tokonoma.core.call import Call
from tokonoma.core.errors import Denied
from tokonoma.core.policy import Policy


def guard(policy: Callable[[], Policy]) -> Callable[[Call], Iterator[None]]:
    def stage(call: Call) -> Iterator[None]:
        current = policy()
        if not current.may(call.who, call.chosen):
            raise Denied(f"The policy does not allow {call.chosen.path} here.", policy_version=current.version)
        yield
        call.value = current.outgoing(call.who, call.value)
        # Frozen here: what passed the guard is what leaves, byte for byte.
        call.body = orjson.dumps(call.value)
        call.bytes_out = len(call.body)

    return stage
