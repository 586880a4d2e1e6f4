"""Records as Markdown: what a client adds to a conversation when its user picks an address."""

import re

from tokonoma.core.desk import Record

MAX_CHARS = 40_000
"""Characters of one answer: about ten thousand tokens."""

_LINES = re.compile(r"#L([1-9][0-9]{0,8})(?:-L?([0-9]{1,9}))?\Z")
_MEDIA_TYPES = {"json": "application/json", "txt": "text/plain", "csv": "text/csv", "html": "text/html"}


def render_record(record: Record, most: int = MAX_CHARS) -> str:
    """The text below its title and its details. A file has no title of its own: its lines keep their numbers."""
    text = cut_text(record.text, record.address, most)
    has_heading = not record.title or _is_file(record) or text.lstrip("# ").startswith(record.title)
    heading = "" if has_heading else f"# {record.title}\n\n"
    is_part = parse_lines(record.address)[1] is not None
    details = "" if is_part else "".join(f"- {name}: {value}\n" for name, value in record.details.items())
    return f"{heading}{details}\n{text}" if details else heading + text


def _is_file(record: Record) -> bool:
    return _find_extension(record.address) != "" or record.address.endswith(f"/{record.title}")


def find_media_type(address: str) -> str:
    return _MEDIA_TYPES.get(_find_extension(address), "text/markdown")


def _find_extension(address: str) -> str:
    name = address.partition("#")[0].rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""


def parse_lines(address: str) -> tuple[str, int | None, int | None]:
    """`tokonoma://memory/1#L3-L9` → the address of the whole record, first and last line."""
    found = _LINES.search(address)
    if found is None:
        return address, None, None
    return address[: found.start()], int(found[1]), int(found[2] or found[1])


def take_lines(text: str, first: int, last: int) -> str:
    """Empty if the text has no such lines."""
    return "\n".join(text.split("\n")[first - 1 : last])


def cut_text(text: str, address: str, most: int = MAX_CHARS) -> str:
    """The text, or as many of its first lines as one answer holds, and how to read on."""
    if len(text) <= most:
        return text
    whole, first, last = parse_lines(address)
    end = text.rfind("\n", 0, most) + 1
    if end == 0 or "#" in whole:  # one long line, or a part that has no line numbers
        return f"{text[:most]}\n\n[Cut after {most} of {len(text)} characters. Use the module's own tools to read on.]"
    start, shown = first or 1, text.count("\n", 0, end)
    # A whole text ends its last line; of a part, what follows the last line end is a line that was asked for.
    stop = start + text.count("\n") - text.endswith("\n") if last is None else min(start + text.count("\n"), last)
    rest = f"{whole}#L{start + shown}-L{stop}"
    return f"{text[:end]}\n[Cut after {shown} of {stop - start + 1} lines. The rest is at {rest}]"
