"""The documentation as tests read it: files, headings, links, blocks of code."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^(`{3,})(\S*)[^\n]*\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[[^\]]*\]\(<?([^)\s>]+)>?\)")


@dataclass(frozen=True, slots=True)
class Block:
    language: str
    text: str


def files() -> list[Path]:
    """Every Markdown file of the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return sorted({ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).exists()})


def written() -> list[Path]:
    """The pages that people wrote for users: all but the reference, which is made from the code."""
    return [ROOT / "README.md", *sorted((ROOT / "docs" / "guides").rglob("*.md")), ROOT / "SECURITY.md"]


def blocks(text: str) -> list[Block]:
    return [Block(found[2], found[3]) for found in _FENCE.finditer(text)]


def prose(text: str) -> str:
    return _FENCE.sub("", text)


def headings(text: str) -> list[tuple[int, str]]:
    return [(len(found[1]), found[2].strip()) for found in re.finditer(r"^(#{1,6}) (.+)$", prose(text), re.MULTILINE)]


def links(text: str) -> Iterator[str]:
    for found in _LINK.finditer(re.sub(r"`[^`\n]*`", "", prose(text))):
        yield found[1]


def anchors(text: str) -> set[str]:
    """The anchors that GitHub makes from headings."""
    found: set[str] = set()
    for _, heading in headings(text):
        plain = re.sub(r"`|\*|\[([^\]]*)\]\([^)]*\)", lambda each: each[1] or "", heading)
        found.add(re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-"))
    return found
