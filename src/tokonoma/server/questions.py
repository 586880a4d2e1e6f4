"""A call that waits for an approval, as a question to the user of a client that can ask (MCP 2026-07-28).

The answer approves nothing: whoever speaks MCP may be an agent, which would approve its own calls. It says that the
user has decided in the terminal, and the client sends the call again. Without such a client, the agent does that.
"""

from dataclasses import replace
from typing import Any

from tokonoma.core.errors import Denied
from tokonoma.server.mcp.interface import TOOL_CALL, ToolRequest, ToolResult

QUESTION = "approval"
MAX_ROUNDS = 5
"""Questions in a row: a client that answers by itself must not ask for ever."""


def add_question(request: ToolRequest, error: BaseException, result: ToolResult) -> ToolResult:
    """The result with a question, if the error is one that an approval resolves and the client can ask."""
    if not isinstance(error, Denied) or error.reason != "approval" or request.method != TOOL_CALL:
        return result
    round = _read_round(request.request_state)
    if not _can_ask(request) or round >= MAX_ROUNDS:
        return result
    params: dict[str, Any] = {
        "mode": "form",
        "message": f"{error.message} Accept when it is decided.",
        "requestedSchema": {"type": "object", "properties": {}},
    }
    asks: dict[str, Any] = {QUESTION: {"method": "elicitation/create", "params": params}}
    return replace(result, asks=asks, request_state=f"{QUESTION} {round + 1}")


def has_declined(request: ToolRequest) -> bool:
    answer = request.input_responses.get(QUESTION)
    return answer is not None and answer.get("action") != "accept"


def _can_ask(request: ToolRequest) -> bool:
    """Whether the client shows forms; one that names no mode does."""
    elicitation = request.capabilities.get("elicitation")
    return isinstance(elicitation, dict) and ("form" in elicitation or not elicitation)


def _read_round(state: str) -> int:
    """How many questions were asked. What a client makes of it does no harm: it may only end the questions."""
    name, _, number = state.partition(" ")
    if not state:
        return 0
    is_ours = name == QUESTION and number.isascii() and number.isdecimal() and len(number) < 3
    return int(number) if is_ours else MAX_ROUNDS
