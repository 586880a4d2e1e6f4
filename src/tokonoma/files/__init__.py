"""Files: folders opened by descriptor, atomic writes, versions of replaced content, and files in the shared index."""

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
"""The error codes that manual, vault and bridge share."""
