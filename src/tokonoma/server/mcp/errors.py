"""What the house refuses before a call has begun, in the words of JSON-RPC."""

from tokonoma.core.errors import Invalid, Limited, Missing, Refusal, Unauthenticated, Unready
from tokonoma.core.log import log
from tokonoma.server.mcp.message import Message, ProtocolError
from tokonoma.server.mcp.protocol import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    LIMITED,
    MISSING_CAPABILITY,
    REFUSED,
    UNAUTHENTICATED,
)


def to_protocol_error(message: Message, error: Exception) -> ProtocolError:
    """A refusal keeps its words; of any other exception nothing leaves the process but that there was one."""
    if isinstance(error, ProtocolError):
        return error
    if not isinstance(error, Refusal):
        log_fault(error, message.method)
        return message.error("Internal error", INTERNAL_ERROR)
    if isinstance(error, Unready) and error.reason == "capability":
        return message.error(
            error.message, MISSING_CAPABILITY, {"requiredCapabilities": error.details.get("required", {})}
        )
    return message.error(error.message, rpc_code(error), error.details or None)


def rpc_code(error: Refusal) -> int:
    if isinstance(error, Invalid | Missing):
        return INVALID_PARAMS
    if isinstance(error, Limited):
        return LIMITED
    return UNAUTHENTICATED if isinstance(error, Unauthenticated) else REFUSED


def log_fault(error: BaseException, where: str) -> None:
    """Log a fault of ours: its kind and its place. Its text may quote what a caller sent, so it is left out."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
    log("error", "wire_fault", where=where, kind=type(error).__name__, at_line=place)
