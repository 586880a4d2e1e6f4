"""Ask the advisory service about every locked package: `make audit`.

    VENV/bin/python scripts/audit.py PIP_AUDIT LOCK…

The exit code is 1 if a version has a known vulnerability, 3 if the service could not be asked.
"""

import json
import subprocess
import sys
from typing import Any

Json = dict[str, Any]


def main(arguments: list[str]) -> int:
    program, *locks = arguments
    worst = 0
    for lock in locks:
        command = [program, "--disable-pip", "--require-hashes", "--progress-spinner=off", "--format=json", "-r", lock]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        code, text = judge(lock, done.stdout, done.stderr)
        print(text)
        worst = max(worst, code)
    return worst


def judge(lock: str, output: str, errors: str) -> tuple[int, str]:
    """The exit code and what is printed, from the answer of pip-audit."""
    try:
        found: list[Json] = json.loads(output)["dependencies"]
    except (ValueError, KeyError, TypeError):
        reason = (errors.strip().splitlines() or ["no answer"])[-1]
        return 3, f"{lock}: nothing was audited, because the advisory service cannot be reached ({reason})."
    skipped = [each["name"] for each in found if "skip_reason" in each]
    bad = [each for each in found if each.get("vulns")]
    lines = [
        f"{lock}: {each['name']} {each['version']}: {one['id']}, fixed in {', '.join(one['fix_versions']) or 'none'}"
        for each in bad
        for one in each["vulns"]
    ]
    if found and len(skipped) == len(found):
        return 3, f"{lock}: nothing was audited: the package index of this machine has no advisories."
    if skipped:
        lines.append(f"{lock}: not known to the service: {', '.join(skipped)}")
    if not bad:
        lines.append(f"{lock}: {len(found) - len(skipped)} packages, no known vulnerability")
    return (1 if bad else 3 if skipped else 0), "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
