"""One good request for every tool, as a client of the service would send it, and what must be in the answer."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Case:
    tool: str
    call: str  # method and path with query, below the service's base URL; `{name}` is a value of the stand-in's `ids`
    fields: str = ""  # paths that must be in the answer, or in each of its rows
    rows: str | None = None  # where the rows are; "" if the answer is the list
    body: Any = None
    status: int = 200
    version: str | None = None  # of Notion's API, where a request needs another one

    @property
    def service(self) -> str:
        return self.tool.split(".")[0]


def load_cases(service: str) -> list[Case]:
    return import_module(f".{service}_cases", __package__).CASES
