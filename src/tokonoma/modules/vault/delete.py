"""vault_delete: a file is removed, and its content kept as a version."""

from typing_extensions import TypedDict

from tokonoma.core.desk import Desk
from tokonoma.core.ids import Opaque
from tokonoma.files.rules import check_write
from tokonoma.files.write import delete_file
from tokonoma.modules.vault.model import ExpectedVersion, VaultPath, open_vault, resolve_file


class DeleteResult(TypedDict):
    path: str
    action: str
    previous_version: Opaque
    removed_bytes: int


def delete(desk: Desk, path: VaultPath, expected_version: ExpectedVersion = None) -> DeleteResult:
    """Delete a file. Its content is kept as a version: vault_restore(path, version) brings it back. Files of
    artifacts/daily/ cannot be deleted."""
    with open_vault(desk) as folder:
        parts = resolve_file(desk, folder, path)
        check_write(parts, "delete")
        change = delete_file(desk, folder, parts, expected_version)
    previous = change.previous_version or ""
    return {"path": change.path, "action": "delete", "previous_version": previous, "removed_bytes": -change.added_bytes}
