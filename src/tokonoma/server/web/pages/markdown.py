"""Markdown of records as HTML. HTML in the text stays text, and a picture becomes a link: a page loads nothing from
other hosts."""

from collections.abc import MutableMapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_RENDERED = 400_000
"""Characters of one text; a longer one is shown as plain text."""


def render_markdown(text: str, first_line: int = 0) -> Markup:
    """With `first_line`, the number of the text's first line in its file, every block has the number of its own as
    `id`, such as `L12`."""
    if len(text) > MAX_RENDERED:
        return Markup('<pre class="plain-text">{}</pre>').format(text)
    parser, env = _open_parser(), dict[str, Any]()
    tokens = parser.parse(text, env)
    if first_line:
        _number_blocks(tokens, first_line)
    html = parser.renderer.render(tokens, parser.options, env)
    return Markup(html)  # noqa: S704 - the parser escapes all HTML of the text


def _number_blocks(tokens: "Sequence[Token]", first_line: int) -> None:
    seen: set[int] = set()
    for token in tokens:
        if token.map is None or token.nesting < 0 or token.hidden or token.type == "inline" or token.map[0] in seen:
            continue
        seen.add(token.map[0])
        token.attrSet("id", f"L{first_line + token.map[0]}")


@cache
def _open_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table").enable("strikethrough")
    parser.add_render_rule("image", _render_image)
    parser.add_render_rule("link_open", _render_link)
    # Headings of a text stand below those of its page.
    parser.add_render_rule("heading_open", _render_heading)
    parser.add_render_rule("heading_close", _render_heading)
    return parser


def _render_image(self: Any, tokens: "Sequence[Token]", index: int, options: Any, env: MutableMapping[str, Any]) -> str:
    token = tokens[index]
    address, name = str(token.attrs.get("src", "")), token.content or str(token.attrs.get("src", ""))
    return f'<a href="{escape(address)}" rel="noreferrer nofollow">{escape(name)}</a>'


def _render_link(self: Any, tokens: "Sequence[Token]", index: int, options: Any, env: MutableMapping[str, Any]) -> str:
    tokens[index].attrSet("rel", "noreferrer nofollow")
    return str(self.renderToken(tokens, index, options, env))


def _render_heading(
    self: Any, tokens: "Sequence[Token]", index: int, options: Any, env: MutableMapping[str, Any]
) -> str:
    token = tokens[index]
    level = min(6, int(token.tag[1]) + 2)
    if token.nesting != 1:
        return f"</h{level}>\n"
    return f'<h{level} id="{escape(str(token.attrs["id"]))}">' if "id" in token.attrs else f"<h{level}>"
