"""Namespaces: a tree of folders. A key has a root that it can never leave and a default where it starts."""

from typing import TYPE_CHECKING

from tokonoma.core.errors import Invalid

if TYPE_CHECKING:
    from tokonoma.core.call import Principal


def normalize_namespace(path: str) -> str:
    """An absolute path without empty or dotted parts; Invalid for anything above the root."""
    if any(ord(letter) < 32 for letter in path):
        raise Invalid("A namespace must not contain control characters.", field="namespace")
    return _join([], path, f"The namespace {path!r} leads above the root.")


def is_inside(namespace: str, root: str) -> bool:
    return root == "/" or namespace == root or namespace.startswith(root + "/")


def resolve_namespace(asked: str | None, principal: "Principal") -> str:
    """What `asked` means for this principal: empty → its default, `/x` → from its root, else from its default."""
    if not asked:
        return principal.default
    root = "" if principal.root == "/" else principal.root
    base = "" if asked.startswith("/") else principal.default.removeprefix(root)
    start = [part for part in base.split("/") if part]
    relative = _join(start, asked, f"The namespace {asked!r} leads above the root of this key.")
    return normalize_namespace(root + relative)


def format_namespace(namespace: str, principal: "Principal") -> str:
    """A namespace as this principal knows it: relative to its own root."""
    return namespace if principal.root == "/" else namespace.removeprefix(principal.root) or "/"


def _join(parts: list[str], path: str, above: str) -> str:
    for part in path.split("/"):
        if part == "..":
            if not parts:
                raise Invalid(above, field="namespace")
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)
