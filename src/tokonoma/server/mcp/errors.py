"""What the house refuses before a call has begun, in the words of JSON-RPC."""

from tokonoma.core.errors import Invalid, Limited, Missing, Refusal, Unauthenticated, Unready
from tokonoma.core.log import log
from tokonoma.server.mcp.message import Broken, Message
from tokonoma.server.mcp.protocol import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    LIMITED,
    MISSING_CAPABILITY,
    REFUSED,
    UNAUTHENTICATED,
)


def refused(message: Message, error: Exception) -> Broken:
    """A refusal keeps its words; of any other exception nothing leaves the process but that there was one."""
    if isinstance(error, Broken):
        return error
    if not isinstance(error, Refusal):
        fault(error, message.method)
        return message.broken("Internal error", INTERNAL_ERROR)
    if isinstance(error, Unready) and error.reason == "capability":
        return message.broken(
            error.message, MISSING_CAPABILITY, {"requiredCapabilities": error.details.get("required", {})}
        )
    return message.broken(error.message, code_of(error), error.details or None)


def code_of(error: Refusal) -> int:
    if isinstance(error, Invalid | Missing):
        return INVALID_PARAMS
    if isinstance(error, Limited):
        return LIMITED
    return UNAUTHENTICATED if isinstance(error, Unauthenticated) else REFUSED


def fault(error: BaseException, where: str) -> None:
    """Log a fault of ours: its kind and its place. Its text may quote what a caller sent, so it is left out."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
    log("error", "wire_fault", where=where, kind=type(error).__name__, at_line=place)
