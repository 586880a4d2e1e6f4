"""The words of specs/004: statuses, priorities, kinds of links, limits, and the codes of its errors."""

from tokonoma.core.errors import ErrorCodes, NumberedCode

MODULE_NAME = "items"

CLOSED_STATUSES = ("Completed", "Closed", "Canceled", "Rejected")
STATUSES = (
    "Open",
    "Specification",
    "Waiting",
    "Ready",
    "In Progress",
    "Review",
    "Testing",
    "Pending",
    *CLOSED_STATUSES,
)
PRIORITIES = ("CRITICAL", "HIGH", "MEDIUM", "LOW", "MINIMAL")

# A link stands in the table twice, once for each end; seen from the other end it may be called something else.
OPPOSITE_KIND = {
    "related": "related",
    "blocks": "blocked_by",
    "blocked_by": "blocks",
    "parent_of": "child_of",
    "child_of": "parent_of",
}
LINK_KINDS = tuple(OPPOSITE_KIND)

MAX_TITLE = 200  # characters
MAX_TEXT = 102_400  # bytes of content, and of a description
MAX_TYPE = 50
MAX_CATEGORY = 100
MAX_VERSION = 50
MAX_TAG = 100
MAX_TAGS = 50  # of an item
MAX_RELATED = 500  # addresses that one call names
MAX_BULK = 100

# What a row of `item` is: open or closed, or in the trash. One number, so that an index can lead to the open ones.
OPEN, CLOSED, TRASH = 1, 0, -1

CODES: ErrorCodes = {
    "missing": NumberedCode(1001, "ItemNotFoundError"),
    "missing.tool": NumberedCode(-32601, "MethodNotFoundError"),
    "invalid": NumberedCode(-32602, "InvalidParamsError"),
    "invalid.value": NumberedCode(1002, "ValidationError"),
    "invalid.constraint": NumberedCode(1004, "ConstraintViolationError"),
    "conflict": NumberedCode(1004, "ConstraintViolationError"),
    "denied": NumberedCode(1005, "PermissionDeniedError"),
    "unavailable": NumberedCode(1003, "DatabaseError"),
    "unready": NumberedCode(1003, "DatabaseError"),
    "internal": NumberedCode(-32603, "InternalError"),
}


def is_open(status: str) -> bool:
    return status not in CLOSED_STATUSES
