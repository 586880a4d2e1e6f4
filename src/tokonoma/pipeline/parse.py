"""parse: the tool's code is loaded and the parameters are checked against its signature, all problems at once."""

from collections.abc import Callable

from tokonoma.core.call import Call
from tokonoma.core.module import Entry
from tokonoma.registry import Bound


def parse(bound: Callable[[Entry], Bound]) -> Callable[[Call], None]:
    def stage(call: Call) -> None:
        call.arguments = bound(call.chosen).parse(call.params)

    return stage
