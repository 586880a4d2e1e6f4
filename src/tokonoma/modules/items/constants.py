"""The words of specs/004: statuses, priorities, kinds of links, limits, and the codes of its errors."""

from tokonoma.core.errors import Codes, Numbered

MODULE_NAME = "items"

CLOSABLE = ("Completed", "Closed", "Canceled", "Rejected")
STATUSES = ("Open", "Specification", "Waiting", "Ready", "In Progress", "Review", "Testing", "Pending", *CLOSABLE)
PRIORITIES = ("CRITICAL", "HIGH", "MEDIUM", "LOW", "MINIMAL")

# A link stands in the table twice, once for each end; seen from the other end it may be called something else.
OPPOSITE = {
    "related": "related",
    "blocks": "blocked_by",
    "blocked_by": "blocks",
    "parent_of": "child_of",
    "child_of": "parent_of",
}
KINDS = tuple(OPPOSITE)

MOST_TITLE = 200  # characters
MOST_TEXT = 102_400  # bytes of content, and of a description
MOST_TYPE = 50
MOST_CATEGORY = 100
MOST_VERSION = 50
MOST_TAG = 100
MOST_TAGS = 50  # of an item
MOST_RELATED = 500  # addresses that one call names
MOST_BULK = 100

# What a row of `item` is: open or closed, or in the trash. One number, so that an index can lead to the open ones.
OPEN, CLOSED, TRASH = 1, 0, -1

CODES: Codes = {
    "missing": Numbered(1001, "ItemNotFoundError"),
    "missing.tool": Numbered(-32601, "MethodNotFoundError"),
    "invalid": Numbered(-32602, "InvalidParamsError"),
    "invalid.value": Numbered(1002, "ValidationError"),
    "invalid.constraint": Numbered(1004, "ConstraintViolationError"),
    "conflict": Numbered(1004, "ConstraintViolationError"),
    "denied": Numbered(1005, "PermissionDeniedError"),
    "unavailable": Numbered(1003, "DatabaseError"),
    "unready": Numbered(1003, "DatabaseError"),
    "internal": Numbered(-32603, "InternalError"),
}


def is_open(status: str) -> bool:
    return status not in CLOSABLE
