"""Commits, branches and files of a GitHub repository: each commit keeps the whole state of its files."""

import base64
import hashlib
from dataclasses import dataclass, field
from typing import Any


def hash_blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@dataclass
class Commit:
    sha: str
    message: str
    author: str
    date: str
    parents: list[str]
    files: dict[str, bytes]


@dataclass
class Repository:
    """A repository and all that hangs on it. Rows of issues, pulls, runs … are as the API shows them."""

    id: int
    owner: str
    name: str
    description: str | None
    private: bool
    created_at: str
    language: str | None = None
    stars: int = 0
    commits: dict[str, Commit] = field(default_factory=dict[str, Commit])
    branches: dict[str, str] = field(default_factory=dict[str, str])
    issues: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    pulls: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    comments: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    reviews: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    review_comments: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    workflows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    runs: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    jobs: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    releases: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.name}"

    def commit(self, branch: str, message: str, files: dict[str, bytes], date: str) -> Commit:
        parents = [self.branches[branch]] if branch in self.branches else []
        whole = {**(self.commits[parents[0]].files if parents else {}), **files}
        sha = hashlib.sha1(repr((parents, message, date, sorted(whole.items()))).encode()).hexdigest()
        self.commits[sha] = Commit(sha, message, self.owner, date, parents, whole)
        self.branches[branch] = sha
        return self.commits[sha]

    def find_commit(self, ref: str) -> Commit | None:
        sha = self.branches.get(ref.removeprefix("refs/heads/").removeprefix("heads/"), ref)
        return next((each for key, each in self.commits.items() if len(sha) >= 7 and key.startswith(sha)), None)

    def list_history(self, start: Commit) -> list[Commit]:
        """A commit and all before it, newest first."""
        found: dict[str, Commit] = {}
        open_ones = [start]
        while open_ones:
            each = open_ones.pop()
            if each.sha not in found:
                found[each.sha] = each
                open_ones += [self.commits[sha] for sha in each.parents]
        return sorted(found.values(), key=lambda each: each.date, reverse=True)


def list_changes(before: dict[str, bytes], after: dict[str, bytes]) -> list[dict[str, Any]]:
    """The files that differ, as the API lists them."""
    rows: list[dict[str, Any]] = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        gone = (old or b"").decode(errors="replace").splitlines()
        come = (new or b"").decode(errors="replace").splitlines()
        rows.append(
            {
                "sha": hash_blob(new if new is not None else old or b""),
                "filename": path,
                "status": "added" if old is None else "removed" if new is None else "modified",
                "additions": len(come),
                "deletions": len(gone),
                "changes": len(come) + len(gone),
                "patch": "\n".join(["@@", *(f"-{line}" for line in gone), *(f"+{line}" for line in come)]),
            }
        )
    return rows


def show_content(files: dict[str, bytes], path: str, url: str) -> Any:
    """A file, or the list of a folder; None if there is neither."""

    def show(name: str, kind: str, content: bytes) -> dict[str, Any]:
        return {
            "type": kind,
            "name": name.rsplit("/", 1)[-1],
            "path": name,
            "sha": hash_blob(content),
            "size": len(content) if kind == "file" else 0,
            "url": f"{url}/{name}",
            "html_url": f"{url}/{name}",
            "git_url": f"{url}/{name}",
            "download_url": f"{url}/{name}" if kind == "file" else None,
        }

    if path in files:
        coded = base64.encodebytes(files[path]).decode()
        return {**show(path, "file", files[path]), "encoding": "base64", "content": coded}
    below = f"{path.strip('/')}/" if path.strip("/") else ""
    names = sorted({each[len(below) :].split("/")[0] for each in files if each.startswith(below)})
    if not names:
        return None
    return [
        show(below + name, "file" if below + name in files else "dir", files.get(below + name, b"")) for name in names
    ]


def show_tree(commit: Commit, recursive: bool, url: str) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for path, content in sorted(commit.files.items()):
        if "/" not in path or recursive:
            sha = hash_blob(content)
            blob = {"path": path, "mode": "100644", "type": "blob", "sha": sha, "size": len(content)}
            rows.append({**blob, "url": f"{url}/git/blobs/{sha}"})
    for folder in sorted({path.split("/")[0] for path in commit.files if "/" in path}):
        rows.append({"path": folder, "mode": "040000", "type": "tree", "sha": hash_blob(folder.encode())})
    return {"sha": commit.sha, "url": f"{url}/git/trees/{commit.sha}", "tree": rows, "truncated": False}
