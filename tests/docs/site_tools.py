"""What builds the documentation site. It is no part of the tests' environment: `make docs` installs it."""

from pathlib import Path

import pytest
from docs.markdown import ROOT


def find_tool(name: str) -> Path:
    tool = ROOT / ".venv-docs" / "bin" / name
    if not tool.exists():
        pytest.skip("the tools of the documentation site are not installed: run `make docs` once")
    return tool
