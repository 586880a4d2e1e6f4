"""Write what the program consists of: a software bill of materials (CycloneDX 1.6, JSON).

    python scripts/make_sbom.py [FILE]

It lists every package that the program needs at run time, in the version that is installed here, with its licence and
with the hashes of requirements-postgres.lock. The same packages give the same file, byte for byte.
"""

import json
import re
import sys
import tomllib
import uuid
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROGRAM = "tokonoma"
EXTRAS = frozenset({"postgres"})  # what `make install` may install
_NAMESPACE = uuid.UUID("3d1f0f2e-5b0c-5c55-9d53-746f6b6f6e6f")
_LICENCE_CLASSIFIER = "License :: OSI Approved :: "
# An entry is one line with its version, then one line per hash.
_LOCKED = re.compile(r"^([\w.-]+)==(\S+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")

Json = dict[str, Any]


def find_needed(name: str, extras: frozenset[str]) -> dict[str, list[str]]:
    """Every package below this one, by name, each with those that it needs itself."""
    needed: dict[str, list[str]] = {}
    waiting = [(canonicalize_name(name), extras)]
    done: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        current = waiting.pop()
        if current in done:
            continue
        done.add(current)
        below = list_requirements(*current)
        needed[current[0]] = sorted({*needed.get(current[0], []), *(each for each, _ in below)})
        waiting += below
    return dict(sorted(needed.items()))


def list_requirements(name: str, extras: frozenset[str]) -> list[tuple[str, frozenset[str]]]:
    """What a package needs on this machine, with the extras of it."""
    found: list[tuple[str, frozenset[str]]] = []
    for text in list_own_requirements(extras) if name == PROGRAM else metadata.requires(name) or []:
        wanted = Requirement(text)
        if wanted.marker is None or any(wanted.marker.evaluate({"extra": extra}) for extra in ("", *sorted(extras))):
            found.append((canonicalize_name(wanted.name), frozenset(wanted.extras)))
    return found


def read_project() -> Json:
    """The program itself, from the source: what is installed may be of an older one."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def list_own_requirements(extras: frozenset[str]) -> list[str]:
    project = read_project()
    return [
        *project["dependencies"],
        *(each for name in sorted(extras) for each in project["optional-dependencies"][name]),
    ]


def find_version(name: str) -> str:
    return read_project()["version"] if name == PROGRAM else metadata.version(name)


def read_hashes(lock: Path) -> dict[tuple[str, str], list[str]]:
    """The hashes of each package, by name and version."""
    hashes: dict[tuple[str, str], list[str]] = {}
    current = ("", "")
    for line in lock.read_text(encoding="utf-8").splitlines():
        if entry := _LOCKED.match(line):
            current = canonicalize_name(entry[1]), entry[2]
        hashes.setdefault(current, []).extend(_HASH.findall(line))
    return hashes


def find_licence(name: str) -> list[Json]:
    """As the package states it: an SPDX expression, or else a name."""
    if name == PROGRAM:
        return [{"expression": read_project()["license"]}]
    about = metadata.metadata(name)
    if "License-Expression" in about:
        return [{"expression": about["License-Expression"]}]
    names = [
        each.removeprefix(_LICENCE_CLASSIFIER)
        for each in about.get_all("Classifier") or []
        if each.startswith(_LICENCE_CLASSIFIER)
    ]
    stated = about["License"].strip() if "License" in about else ""
    if not names and stated:
        names = [stated.splitlines()[0][:120]]  # some packages put the whole text there
    return [{"license": {"name": each}} for each in sorted(set(names))]


def build_component(name: str, hashes: dict[tuple[str, str], list[str]]) -> Json:
    version = find_version(name)
    component: Json = {
        "type": "application" if name == PROGRAM else "library",
        "bom-ref": build_ref(name),
        "name": name,
        "version": version,
        "licenses": find_licence(name),
        "purl": build_ref(name),
    }
    known = hashes.get((name, version))
    if known:
        component["externalReferences"] = [
            {
                "type": "distribution",
                "url": f"https://pypi.org/project/{name}/{version}/",
                "hashes": [{"alg": "SHA-256", "content": each} for each in sorted(known)],
            }
        ]
    return component


def build_ref(name: str) -> str:
    return f"pkg:pypi/{name}@{find_version(name)}"


def build_sbom(lock: Path = ROOT / "requirements-postgres.lock") -> Json:
    needed, hashes = find_needed(PROGRAM, EXTRAS), read_hashes(lock)
    parts = {name: build_component(name, hashes) for name in needed}
    content: Json = {
        "metadata": {"component": parts.pop(PROGRAM)},
        "components": list(parts.values()),
        "dependencies": [
            {"ref": build_ref(name), "dependsOn": [build_ref(each) for each in below]} for name, below in needed.items()
        ],
    }
    # Without a time, and with a number that follows from the content: so that two files can be compared.
    number = uuid.uuid5(_NAMESPACE, json.dumps(content, sort_keys=True))
    head = {"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": f"urn:uuid:{number}", "version": 1}
    return {"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", **head, **content}


def main(arguments: list[str]) -> int:
    text = json.dumps(build_sbom(), indent=2, ensure_ascii=False) + "\n"
    if arguments:
        target = Path(arguments[0])
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
