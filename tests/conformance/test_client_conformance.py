"""The official conformance suite against our client of MCP servers, once for each era."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conformance.node import NODE, packages
from conformance.test_conformance import listed

CLIENT = Path(__file__).with_name("upstream_client.py")


@pytest.mark.xdist_group("node")
@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
def test_every_required_scenario_of_a_client_passes(revision, tmp_path):
    suite = packages() / "@modelcontextprotocol" / "conformance"
    command = [str(NODE), str(suite / "dist" / "index.js"), "client", "--requirements", revision]
    done = subprocess.run(
        [*command, "--command", f"{sys.executable} {CLIENT}"],
        cwd=tmp_path,  # the suite writes its results where it runs
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    required = listed(suite / "requirements" / f"{revision}.yaml", "client")
    passed = set(re.findall(r"^✓ (\S+): ", done.stdout + done.stderr, re.MULTILINE))
    assert len(required) >= 18
    assert required - passed == set(), done.stdout[-8000:] + done.stderr[-8000:]
