"""A memo as a person names it: by its id, its address, or the start of its id. And a memo as a whole."""

from typing import Any

from tokonoma.app import App
from tokonoma.cli.call import call_owner_tool, call_tool
from tokonoma.core.desk import format_address
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.printable import escape_line

MODULE_NAME = "memory"
ID_METAVAR = "ID"  # or an address, or the start of an id

_ADDRESS = format_address(MODULE_NAME, "")
_WHOLE_ID = 36  # characters
_PIECE = 100_000  # characters that one call reads

JsonObject = dict[str, Any]


def find_memo_id(app: App, name: str, *, gone: bool = False) -> str:
    """The id of the one memo that is meant: of a living one, or with `gone` of one that was deleted or has expired."""
    start = name.strip().removeprefix(_ADDRESS)
    if not start:
        raise Invalid("The id of the memo is empty. `tokonoma memory list` shows the ids.")
    found = call_owner_tool(app, MODULE_NAME, "ids", {"prefix": start[:100]})
    meant = [each for each in found if (each["state"] != "kept") is gone]
    if len(meant) == 1:
        return meant[0]["memo_id"]
    if meant:
        listed = "\n".join(escape_line(f"  {each['memo_id']}  {each['title']}") for each in meant)
        raise Invalid(f"The ids of several memos begin with {start!r}. Write more of one:\n{listed}")
    if found and gone:
        raise Missing(f"Memo {found[0]['memo_id']} is not in the trash.")
    if found:
        memo_id, why = found[0]["memo_id"], {"trash": "is in the trash", "expired": "has expired"}[found[0]["state"]]
        raise Missing(f"Memo {memo_id} {why}. `tokonoma memory restore {memo_id}` brings it back.")
    what = "There is no memo" if len(start) >= _WHOLE_ID else "There is no memo whose id begins with"
    raise Missing(f"{what} {start!r}. `tokonoma memory list{' --trash' if gone else ''}` shows the ids.")


def read_memo(app: App, memo_id: str) -> JsonObject:
    """The memo with its whole content. It is read in pieces; if it changes meanwhile, once more from the start."""
    while True:
        memo = call_tool(app, MODULE_NAME, "get", memo_id=memo_id, max_characters=_PIECE)
        version, pieces = memo["version"], [memo["content"]]
        while memo.get("content_truncated") and memo["version"] == version:
            offset = sum(map(len, pieces))
            memo = call_tool(app, MODULE_NAME, "get", memo_id=memo_id, offset=offset, max_characters=_PIECE)
            pieces.append(memo["content"])
        if memo["version"] == version:
            return {**memo, "content": "".join(pieces)}
