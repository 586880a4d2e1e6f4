"""The sections' own lines as they stand in the files, each file read once."""

from contextlib import ExitStack
from types import TracebackType
from typing import Self

from tokonoma.core.errors import Refusal
from tokonoma.files.folder import open_root
from tokonoma.files.sections import split_lines
from tokonoma.modules.manual.corpus import ManualCorpus


class SectionReader:
    def __init__(self, root: str, stock: ManualCorpus) -> None:
        self._root, self._stock = root, stock
        self._stack = ExitStack()
        self._lines: dict[tuple[str, str], list[str]] = {}

    def __enter__(self) -> Self:
        self._folder = self._stack.enter_context(open_root(self._root))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def read_section(self, place: int) -> str:
        section = self._stock.sections[place]
        file = section.manual, section.path
        if file not in self._lines:
            try:
                data = self._folder.read((section.manual, *section.path.split("/"))).data
            except Refusal:  # gone since it was indexed
                data = b""
            self._lines[file] = split_lines(data.decode("utf-8-sig", errors="replace"))
        return "".join(self._lines[file][section.line - 1 : section.own_end])
