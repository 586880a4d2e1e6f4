"""Where raw HTML starts in a Markdown text, and where it ends, by the seven cases of CommonMark. Pure."""

import re
from collections.abc import Callable

_HTML_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt"
    "|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu"
    "|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr"
    "|track|ul"
)
_RAW = re.compile(r"<(script|pre|style|textarea)(?=\s|>|$)", re.IGNORECASE)
_BLOCK_TAG = re.compile(rf"</?(?:{_HTML_TAGS})(?=\s|/?>|$)", re.IGNORECASE)
_ATTRIBUTE = r"\s++[a-zA-Z_:][\w.:-]*+(?:\s*+=\s*+(?:[^\"'=<>`\x00-\x20]++|'[^']*+'|\"[^\"]*+\"))?"
_ANY_TAG = re.compile(rf"(?:</[A-Za-z][A-Za-z0-9-]*+\s*+>|<[A-Za-z][A-Za-z0-9-]*+(?:{_ATTRIBUTE})*+\s*+/?>)\s*+$")


def find_html_end(text: str, can_be_any: bool) -> Callable[[str], bool] | None:
    """If raw HTML starts here: the test for the line with which it ends."""
    if raw := _RAW.match(text):
        closing = f"</{raw[1].lower()}>"
        return lambda line: closing in line.lower()
    for opening, closing in (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>")):
        if text.startswith(opening):
            return lambda line, closing=closing: closing in line
    if text[:2] == "<!" and text[2:3].isascii() and text[2:3].isalpha():
        return lambda line: ">" in line
    if _BLOCK_TAG.match(text) or (can_be_any and _ANY_TAG.match(text)):
        return lambda line: not line
    return None
