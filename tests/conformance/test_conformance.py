"""The official conformance suite against our real wire and HTTP server, once for each era."""

import re
import subprocess
from pathlib import Path

import pytest
from conformance.everything import Everything
from conformance.node import NODE, packages
from server.web import served

HERE = Path(__file__).parent


def listed(path: Path, section: str) -> set[str]:
    """The entries of one list in one of the suite's YAML files, which hold nothing but such lists."""
    body = re.search(rf"^{section}:\n((?:[ #].*\n|\n)*)", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert body is not None
    return set(re.findall(r"^  - (\S+)", body.group(1), re.MULTILINE))


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
def test_every_required_scenario_of_a_tools_server_passes(revision, tmp_path):
    suite = packages() / "@modelcontextprotocol" / "conformance"
    excused = HERE / f"expected-{revision}.yaml"
    command = [str(NODE), str(suite / "dist" / "index.js"), "server", "--requirements", revision]
    with served(Everything()) as (url, _):
        done = subprocess.run(
            [*command, "--url", f"{url}/mcp", "--expected-failures", str(excused)],
            cwd=tmp_path,  # the suite writes its results where it runs
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    required = listed(suite / "requirements" / f"{revision}.yaml", "server")
    passed = set(re.findall(r"^✓ (\S+): ", done.stdout, re.MULTILINE))
    # The suite prints a scenario with warnings alone as passed, and refuses an excuse that is not needed.
    assert required - passed <= listed(excused, "server")
    assert len(required) > len(listed(excused, "server")) > 0
