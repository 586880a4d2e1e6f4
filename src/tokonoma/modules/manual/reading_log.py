"""What of a manual's file was shown to a caller, for manual_coverage and artifact_audit."""

from collections.abc import Iterable
from typing import NamedTuple

from tokonoma.core.desk import Desk
from tokonoma.files.ledger import Piece, ReadingLog, estimate_tokens, load_log, save_logs
from tokonoma.files.ranges import Range
from tokonoma.files.text import version_of
from tokonoma.files.text_file import TextFile
from tokonoma.modules.manual.source_file import SourceFile
from tokonoma.modules.manual.tables import NAME


def to_text_file(manual: str, path: str, file: SourceFile) -> TextFile:
    """The file as the reading log names it. `file` is without what the caller may not see: so is its hash."""
    return TextFile(f"{manual}/{path}", file.text, version_of(file.text.encode("utf-8", "surrogatepass")), file.lines)


class ShownText(NamedTuple):
    """A text that was shown to a caller, from this line and column on. `file` is as the caller sees it."""

    manual: str
    path: str
    file: SourceFile
    line: int
    column: int
    text: str


def record_shown(desk: Desk, texts: Iterable[ShownText]) -> None:
    """Note which lines were shown; of a line that was cut, the piece. Nothing for a caller that may only read."""
    if not desk.may_write:
        return
    logs: dict[str, tuple[str, TextFile, ReadingLog]] = {}
    for each in texts:
        file = to_text_file(each.manual, each.path, each.file)
        _, _, before = logs.get(file.path) or (NAME, file, load_log(desk, NAME, file))
        whole, pieces = _split_shown(each)
        log = before.add_reading(whole, pieces, file, estimate_tokens(len(each.path), len(each.text)))
        logs[file.path] = NAME, file, log
    if logs:
        save_logs(desk, list(logs.values()))


def _split_shown(shown: ShownText) -> tuple[list[Range], list[Piece]]:
    """The lines that were shown whole, and the pieces of others."""
    whole, pieces = list[Range](), list[Piece]()
    rest, offset = shown.text, shown.column - 1
    for number, line in enumerate(shown.file.lines[shown.line - 1 :], shown.line):
        if not rest:
            break
        piece, rest = rest[: len(line) - offset], rest[len(line) - offset :]
        if not offset and len(piece) >= len(line.rstrip("\r\n")):
            whole.append((number, number))
        else:
            pieces.append((number, offset, offset + len(piece)))
        offset = 0
    return whole, pieces
