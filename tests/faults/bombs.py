"""Small inputs that are made to cost much: texts, files, queries, JSON, YAML and batches. Each is one call.

A bomb is refused or answered; either must be quick. Its files are laid into the workspace before the call.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

MB = 1_000_000
DENSE = {  # what takes longer than a second as a million characters without being hostile: many words or passages
    "words",
    "e-mail addresses",
    "telephone numbers",
    "headings",
    "deep headings",
    "underlined headings",
    "list items",
    "numbered items",
    "ligatures",
    "addresses",
}


@dataclass(frozen=True)
class Bomb:
    """`params` and `files` are made when the bomb is used: all of them together would fill the memory."""

    name: str
    module: str
    tool: str
    params: Callable[[], Mapping[str, Any]]
    files: Callable[[], Mapping[str, str]] = field(default=dict[str, str])

    def build_message(self, id: int) -> bytes:
        """The request, as bytes."""
        if self.tool == "":  # the parameters are those of a tool that clients see directly
            params: Mapping[str, Any] = {"name": self.module, "arguments": self.params()}
        else:
            called = {"module": self.module, "tool_name": self.tool, "params": self.params()}
            params = {"name": "call", "arguments": called}
        message = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
        return json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")


def repeat(unit: str, size: int, start: str = "", end: str = "") -> str:
    return start + unit * max(1, (size - len(start) - len(end)) // len(unit)) + end


TEXTS: dict[str, Callable[[int], str]] = {
    # Markdown
    "front matter": lambda size: repeat("line\r\n", size, "---\r\n"),
    "front matters": lambda size: repeat("---\n", size),
    "title in front matter": lambda size: repeat(" ", size, "---\ntitle: x", "y\n---\n"),
    "comments": lambda size: repeat("<!--", size),
    "comments in a heading": lambda size: repeat("<!--", size, "# "),
    "anchors": lambda size: repeat("{#", size, "# "),
    "anchors with names": lambda size: repeat("{#a ", size, "# ", "}"),
    "link openers": lambda size: repeat("[a](", size),
    "link openers in a heading": lambda size: repeat("![a](", size, "# "),
    "anchor links": lambda size: repeat("[a](#", size),
    "nested brackets": lambda size: repeat("[", size // 2) + repeat("]", size // 2),
    "link definitions": lambda size: repeat("[a]: b\n", size),
    "open definitions": lambda size: repeat("[a]:\n", size),
    "headings": lambda size: repeat("# a\n", size),
    "deep headings": lambda size: repeat("# a\n## b\n### c\n#### d\n##### e\n###### f\n", size),
    "underlined headings": lambda size: repeat("a\n=\n", size),
    "quotations": lambda size: repeat("> ", size, end="x"),
    "lines of quotations": lambda size: repeat("> " * 30 + "a\n", size),
    "list marks": lambda size: repeat("- ", size, end="x"),
    "list items": lambda size: repeat("- a\n", size),
    "nested lists": lambda size: "".join(" " * (2 * (n % 100)) + "- x\n" for n in range(size // 104)),
    "numbered items": lambda size: repeat("1. a\n", size),
    "emphasis": lambda size: repeat("*a_", size),
    "code spans": lambda size: "".join("`" * (n % 500) + "a" for n in range(size // 250)),
    "table": lambda size: repeat("|a|b", size, end="|\n|-|-|\n"),
    "HTML": lambda size: repeat("<a ", size),
    "HTML attributes": lambda size: repeat(" a=b", size, "<a"),
    "wikilinks": lambda size: repeat("[[a#b|c]] ", size),
    "wikilink openers": lambda size: repeat("[[a", size),
    "signs of emphasis": lambda size: repeat("*a _b ", size, "# "),
    "open code spans": lambda size: "".join("`" * (n % 50 + 1) + "a" for n in range(size // 26)),
    "a long front matter": lambda size: repeat("a: [b, c]\n", min(size, 60_000), "---\n", "---\n"),
    "HTML anchors": lambda size: repeat("<a id=", size),
    "fences": lambda size: repeat("```\n", size),
    "charts": lambda size: repeat("```mermaid\ngraph TD\nA-->B\n```\n", size),
    "chart labels": lambda size: repeat("-- ", size, "```mermaid\ngraph TD\nA ", "\n```\n"),
    "blank lines": lambda size: repeat("\n", size),
    "spaces": lambda size: repeat(" ", size, end="x"),
    "tabs": lambda size: repeat("\t", size, end="x"),
    "one line": lambda size: repeat("a", size),
    # Personal data and secrets
    "e-mail addresses": lambda size: "".join(f"user{n}@example.com " for n in range(size // 20)),
    "half e-mail addresses": lambda size: repeat("a.", size, end="@"),
    "telephone numbers": lambda size: "".join(f"090-{n % 10000:04}-5678 " for n in range(size // 14)),
    "card numbers": lambda size: repeat("4111 1111 1111 1111,", size),
    "addresses": lambda size: repeat("東京都千代田区一丁目1番地", size // 3),
    "private keys": lambda size: repeat("-----BEGIN PRIVATE KEY-----", size),
    "tokens": lambda size: repeat("eyJaaaaaaaaa.", size),
    "URL passwords": lambda size: repeat("http://a:", size),
    # Words
    "digits": lambda size: repeat("7", size),
    "words": lambda size: "".join(f"w{n} " for n in range(size // 7)),
    "joined words": lambda size: repeat("a-", size, end="a"),
    "kanji": lambda size: repeat("漢", size // 3),
    "katakana": lambda size: repeat("ア", size // 3),
    "kana and kanji": lambda size: repeat("漢の", size // 6),
    "long vowels": lambda size: repeat("ー", size // 3),
    "marks on one letter": lambda size: repeat("\u0301", size // 2, "a"),
    "ligatures": lambda size: repeat("ﷺ", size // 3),
    "brackets with names": lambda size: repeat("long name (ln) ", size),
    "articles": lambda size: repeat("第一条の二", size // 15),
    "references to sections": lambda size: repeat("「a「", size // 7),
    "months": lambda size: repeat("1月", size // 4),
    "camel humps": lambda size: repeat("aB", size),
    "emoji": lambda size: repeat("👩‍👩‍👧‍👦", size // 25),
}

QUERIES = (
    "digits",
    "joined words",
    "kanji",
    "katakana",
    "long vowels",
    "marks on one letter",
    "ligatures",
    "months",
    "brackets with names",
    "references to sections",
    "e-mail addresses",
    "spaces",
    "link openers",
    "camel humps",
)


def nest(depth: int, leaf: Any = 1) -> Any:
    value = leaf
    for _ in range(depth):
        value = {"a": value}
    return value


def text_bombs() -> list[Bomb]:
    bombs: list[Bomb] = []
    for name, make in TEXTS.items():
        size = MB // 4 if name in DENSE else MB
        vault, manual = f"vault/{name}.md", f"manuals/m/{name}.md"
        bombs += [
            Bomb(f"a memo: {name}", "memory", "save", lambda make=make, size=size: {"content": make(size)}),
            Bomb(
                f"a file of the vault: {name}",
                "vault",
                "read",
                lambda name=name: {"path": f"{name}.md", "full": True},
                lambda make=make, vault=vault, size=size: {vault: make(size)},
            ),
            Bomb(
                f"a manual: {name}",
                "manual",
                "find",
                lambda: {"query": "long name"},
                lambda make=make, manual=manual, size=size: {manual: make(size // 2)},
            ),
        ]
    return bombs


def query_bombs() -> list[Bomb]:
    asked = (
        ("memory", "search", "query", 20_000),
        ("items", "search_items", "query", 2000),
        ("vault", "find", "query", 2000),
        ("manual", "find", "query", 2000),
        ("claims", "search", "query", 8000),
    )
    return [
        Bomb(
            f"{module}.{tool}: {name}",
            module,
            tool,
            lambda make=TEXTS[name], field=field, size=size: {field: make(size)[:size]},
        )
        for module, tool, field, size in asked
        for name in QUERIES[: 6 if module in ("vault", "claims") else None]
    ]
