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


def render_markdown(text: str) -> Markup:
    if len(text) > MAX_RENDERED:
        return Markup('<pre class="plain-text">{}</pre>').format(text)
    return Markup(_open_parser().render(text))  # noqa: S704 - the parser escapes all HTML of the text


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
    return f"<h{level}>" if token.nesting == 1 else f"</h{level}>\n"
