"""Spaces: namespaces as a tree of folders. A key has a root that it can never leave and a default where it starts."""

from tokonoma.core.call import Principal
from tokonoma.core.errors import Invalid


def normalize_namespace(path: str) -> str:
    """An absolute path without empty or dotted parts; Invalid for anything above the top."""
    parts: list[str] = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if not parts:
                raise Invalid(f"The namespace {path!r} leads above the root.", field="namespace")
            parts.pop()
            continue
        if any(ord(letter) < 32 for letter in part):
            raise Invalid("A namespace cannot hold control characters.", field="namespace")
        parts.append(part)
    return "/" + "/".join(parts)


def is_inside(space: str, root: str) -> bool:
    return root == "/" or space == root or space.startswith(root + "/")


def resolve_namespace(asked: str | None, who: Principal) -> str:
    """Where `asked` leads for this principal: empty → default, `/x` → from the root, else from the default."""
    if not asked:
        return who.default
    base = who.root if asked.startswith("/") else who.default
    depth = [part for part in base.removeprefix("" if who.root == "/" else who.root).split("/") if part]
    for part in asked.split("/"):
        if part == "..":
            if not depth:
                raise Invalid(f"The namespace {asked!r} leads above the root of this key.", field="namespace")
            depth.pop()
        elif part not in ("", "."):
            depth.append(part)
    return normalize_namespace(who.root + "/" + "/".join(depth))


def format_namespace(space: str, who: Principal) -> str:
    """A space as this principal knows it: relative to its own root."""
    if who.root == "/":
        return space
    return space.removeprefix(who.root) or "/"
