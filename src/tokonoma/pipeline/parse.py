"""parse: the tool's code is loaded and the parameters are checked against its signature, all problems at once."""

from collections.abc import Callable

import orjson

from tokonoma.catalogue.registry import LoadedTool
from tokonoma.catalogue.slips import parse_mended
from tokonoma.core.call import Call
from tokonoma.core.errors import Invalid
from tokonoma.core.module import ToolInfo


def parse(bound: Callable[[ToolInfo], LoadedTool]) -> Callable[[Call], None]:
    def stage(call: Call) -> None:
        most = call.chosen_tool.payload
        # The message is measured already; its parameters only where that alone does not settle it.
        if most is not None and not 0 < call.bytes_in <= most:
            size = len(orjson.dumps(call.params))
            if size > most:
                raise Invalid(
                    f"The parameters of {call.chosen_tool.name} have {size} bytes, and {most} is the most.",
                    reason="payload",
                    limit=most,
                )
        loaded = bound(call.chosen_tool)
        call.arguments, corrections = parse_mended(loaded.parse, call.chosen_tool.input, call.params)
        call.corrections += corrections

    return stage
