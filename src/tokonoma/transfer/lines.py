"""Lines of JSON in a file, one after the other, however long the file is."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson

from tokonoma.transfer.carried import Metadata, Remark
from tokonoma.transfer.decode import DecodingError, decode_text, detect_encoding

MAX_LINE_BYTES = 32 * 1024 * 1024  # bytes of a line


def read_objects(path: Path) -> Iterator[tuple[int, Metadata] | Remark]:
    """Each line's number and object; a line that is none becomes a remark, and the next one is read."""
    for number, line in _read_lines(path):
        place = f"{path.name}:{number}"
        if len(line) > MAX_LINE_BYTES:
            yield Remark(place, f"The line has more than {MAX_LINE_BYTES // 1024 // 1024} MiB.")
            continue
        try:
            text, word = decode_text(line)
            if not text.strip():
                continue
            value: Any = orjson.loads(text)
        except DecodingError as error:
            yield Remark(place, str(error))
            continue
        except orjson.JSONDecodeError as error:
            yield Remark(place, f"It is not JSON (column {error.colno}: {error.msg.partition(': line')[0]}).")
            continue
        if word:
            yield Remark(place, word, lost=False)
        if isinstance(value, dict):
            yield number, cast("Metadata", value)
        else:
            yield Remark(place, "It is not a JSON object.")


def _read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as file:
        encoding = detect_encoding(file.read(4))
        file.seek(0)
        read = file.readline if encoding == "utf-8" else _reencode(file, encoding)
        number = 0
        while line := read(MAX_LINE_BYTES + 1):
            number += 1
            yield number, line
            while len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):  # the rest of a line that is too long
                line = read(MAX_LINE_BYTES + 1)


def _reencode(file: BinaryIO, encoding: str) -> Callable[[int], bytes]:
    """The lines of a file with a mark, such as PowerShell makes by `>`, as UTF-8."""
    text = io.TextIOWrapper(file, encoding=encoding[:6], errors="replace", newline="\n")  # utf-16, utf-32: by the mark
    return lambda most: text.readline(most).encode()
