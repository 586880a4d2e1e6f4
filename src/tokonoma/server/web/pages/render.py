"""Templates and static files. Jinja2 is loaded with the first page: discovery and tokens do not need it."""

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokonoma.core.clock import format_time
from tokonoma.server.web.page_parts import Language
from tokonoma.server.web.pages.addresses import link_record
from tokonoma.server.web.pages.markdown import render_markdown
from tokonoma.server.web.pages.pictures import draw_bar, draw_sparkline, draw_strip
from tokonoma.server.web.pages.request import build_path
from tokonoma.server.web.pages.words import translate
from tokonoma.server.web.pages.words.names import NAMES

if TYPE_CHECKING:
    from jinja2 import Environment

_FOLDER = Path(__file__).parent
_TYPES = {
    ".css": b"text/css; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".svg": b"image/svg+xml",
}


_FUNCTIONS: dict[str, Any] = {
    "link_record": link_record,
    "build_path": build_path,
    "draw_bar": draw_bar,
    "draw_strip": draw_strip,
    "draw_sparkline": draw_sparkline,
}
"""What every template may call."""


def render_page(template: str, language: Language, values: dict[str, Any]) -> bytes:
    folder, is_inside, _ = template.rpartition("/")
    group = folder if is_inside else "explore"

    def say(text: str, **parts: object) -> str:
        return translate(language, text, group, **parts)

    def say_tool(text: str) -> str:
        """What a tool said, marked as English where it is not translated."""
        found = say(text)
        return _mark_english(text) if language == "ja" and found == text else found

    def name_value(value: str) -> str:
        """A module, kind or outcome, as a page calls it."""
        return NAMES.get(value, value) if language == "ja" else value

    known = {
        "name_value": name_value,
        "_": say,
        "say_tool": say_tool,
        "static": find_static,
        "language": language,
        **_FUNCTIONS,
        **values,
    }
    return _open_templates().get_template(template).render(known).encode()


def _mark_english(text: str) -> str:
    from markupsafe import Markup

    is_foreign = any("a" <= letter <= "z" for letter in text.lower())
    return Markup('<span lang="en">{}</span>').format(text) if is_foreign else text


@cache
def read_static() -> dict[str, tuple[bytes, bytes]]:
    """Content type and content, by the name with its hash: what a browser holds under a name never changes."""
    found: dict[str, tuple[bytes, bytes]] = {}
    for file in sorted((_FOLDER / "static").iterdir()):
        content = file.read_bytes()
        digest = hashlib.sha256(content).hexdigest()[:12]
        found[f"{file.stem}.{digest}{file.suffix}"] = (_TYPES[file.suffix], content)
    return found


def find_static(name: str) -> str:
    """The path under which a browser gets the file `name`."""
    stem, _, suffix = name.rpartition(".")
    hashed = next(each for each in read_static() if each.startswith(f"{stem}.") and each.endswith(f".{suffix}"))
    return f"/static/{hashed}"


def format_minute(milliseconds: int) -> str:
    """2026-07-28 09:30 UTC: a page without scripts does not know the time zone of its reader."""
    return f"{format_time(milliseconds)[:16].replace('T', ' ')} UTC"


def shorten_time(text: str) -> str:
    """An exact time as a tool writes it, to the minute."""
    return f"{text[:16].replace('T', ' ')} UTC" if "T" in text else text


@cache
def _open_templates() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(_FOLDER / "templates")
    opened = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    opened.filters |= {
        "minute": format_minute,
        "exact": format_time,
        "short_time": shorten_time,
        "markdown": render_markdown,
    }
    return opened
