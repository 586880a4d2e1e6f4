"""guard: the policy is asked on the way in, and decides what may leave on the way out.

In: which classes this caller sees, what it may not see of them, and whether what it writes may be stored. Out: records
were masked when they were read, as a whole. The value is screened once more where it may hold texts that were not read
that way: from outside, from a write, names; then it is frozen as bytes.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, cast

import orjson

from tokonoma.core.call import Call
from tokonoma.core.content import ContentBlock, ResourceContent, RichResult
from tokonoma.core.masks import NO_MASKS
from tokonoma.core.module import ToolInfo
from tokonoma.core.policy import UNRESTRICTED_VIEW, Policy, PolicyView
from tokonoma.policy.active import RECORDLESS_MODULES
from tokonoma.policy.tool_rules import holds_calls


def guard(policy: Callable[[], Policy], promised: Callable[[ToolInfo], Any]) -> Callable[[Call], Iterator[None]]:
    """`promised` is the return type of a tool. It says which strings are ids or hashes and need no screening."""

    def stage(call: Call) -> Iterator[None]:
        current, entry = policy(), call.chosen_tool
        current.check_allowed(call.principal, entry)
        # Tools in no catalogue are the owner's own commands: a backup must hold everything.
        call.view = view = current.view_for(call.principal) if entry.listed else UNRESTRICTED_VIEW
        current = current.for_tool(call.principal, entry)
        call.masks = masks = current.build_masks(view) if entry.listed else NO_MASKS
        if call.arguments and entry.listed and not holds_calls(entry) and not entry.raw:
            # What reads all modules is asked about any of them.
            module = "" if entry.module in RECORDLESS_MODULES else entry.module
            screened = current.screen_arguments(view, module, call.arguments, entry.effect != "read")
            call.detections += screened.detections
            if screened.refusal is not None:
                raise screened.refusal
            call.arguments = screened.value
        yield
        if isinstance(call.value, RichResult):
            result = cast("RichResult[Any]", call.value)  # pyright: ignore[reportUnknownMemberType]
            call.value, call.blocks = result.value, [_screen_block(current, view, block) for block in result.blocks]
        masked = not holds_calls(entry) and masks.covers(entry.module)
        if entry.outside or call.read_unclassified or masked:
            module = "" if entry.outside or call.read_unclassified else entry.module
            cleared = current.screen_result(view, call.value, promised(entry), module)
            call.value = cleared.value
            call.detections += cleared.detections
        # Frozen here: what passed the guard is what leaves, byte for byte.
        call.body = orjson.dumps(call.value)
        call.bytes_out = len(call.body)

    return stage


def _screen_block(policy: Policy, view: PolicyView, block: ContentBlock) -> ContentBlock:
    """Text of a block is screened like any answer. Bytes pass: a picture cannot be searched for secrets."""
    if isinstance(block, ResourceContent) and isinstance(block.data, str):
        return replace(block, data=policy.screen_result(view, block.data).value)
    return block
