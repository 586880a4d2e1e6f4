"""What a service sends back after a consent, received by a server for the command that waits for it, or for the page
on which it began."""

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from tokonoma.core.errors import Refusal
from tokonoma.core.log import log
from tokonoma.keyring.sign_ins import deliver_answer, is_awaited, read_draft
from tokonoma.services.sign_in import parse_callback

if TYPE_CHECKING:
    from tokonoma.app import App

CONSENT_PAGE = "/admin/services/consent"
DONE = "Tokonoma has received the answer. You can close this page and go back to the terminal."
_UNKNOWN = "Nobody waits for this answer, or its time is over. Run `tokonoma connect` again."
_USED = "This answer has already been used. Run `tokonoma connect` again if it did not work."
_INVALID = "This is no answer to a consent. Begin with `tokonoma connect SERVICE --oauth`."
_AWAY = "Tokonoma cannot store the answer now. Try again in a minute."


def receive_answer(app: "App", query: str) -> tuple[int, str, str]:
    """Status and text of the page that the browser then shows, and the path that it is led to if the consent began on a
    page. Whoever sends the right state may deliver, once."""
    try:
        answer = parse_callback(query)
        with app.database.reading() as rows:  # without a write if no consent is open
            if not is_awaited(rows, answer.state):
                return 400, _UNKNOWN, ""
            draft = read_draft(rows, answer.state)
        with app.database.writing() as statements:
            deliver_answer(statements, answer.state, query)
    except Refusal as error:
        known = {"invalid": (400, _INVALID), "conflict": (400, _USED), "missing": (400, _UNKNOWN)}
        if error.kind not in known:
            log("warning", "consent", reason=error.reason or error.kind)
        return (*known.get(error.kind, (503, _AWAY)), "")
    return (303, "", f"{CONSENT_PAGE}?{urlencode({'state': answer.state})}") if draft else (200, DONE, "")
