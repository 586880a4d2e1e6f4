"""The error codes of everything that deals with files: manual, vault and bridge share them."""

from tokonoma.core.errors import ErrorCodes

FILE_ERROR_CODES: ErrorCodes = {
    "invalid": "invalid_parameter",
    "invalid.path": "invalid_path",
    "invalid.scope": "invalid_scope",
    "denied": "forbidden",
    "denied.scope": "out_of_scope",
    "missing": "not_found",
    "conflict": "conflict",
}
