"""limit: how often a caller may use a tool. Without a setting there is no limit, and this stage costs nothing."""

from collections.abc import Callable

from tokonoma.core.call import Call, Quota
from tokonoma.core.errors import Limited


def limit(take: Callable[[str], Quota] | None) -> Callable[[Call], None]:
    """`take` counts a call of this name and says what is left; None: no limit is set."""
    if take is None:
        return lambda call: None

    def stage(call: Call) -> None:
        call.quota = quota = take(f"{call.principal.name} {call.chosen_tool.path}")
        if not quota.allowed:
            raise Limited(
                f"No more than {quota.limit} calls of {call.chosen_tool.path} at once. Try again in {quota.wait} s.",
                retry_after=quota.wait,
                limit=quota.limit,
                reset=quota.reset,
            )

    return stage
