"""The documentation site, built once for all tests of a process that look at it."""

import subprocess
from pathlib import Path

import pytest
from docs.markdown import ROOT
from docs.site_tools import find_tool


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("docs") / "site"
    command = [find_tool("python"), ROOT / "scripts" / "make_site.py", site, "--url", "https://docs.example"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return site
