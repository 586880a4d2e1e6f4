"""The lock files fit pyproject.toml, and the bill of materials is complete and always the same."""

import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "make_sbom.py"
LOCKS = {
    "requirements.lock": [],
    "requirements-postgres.lock": ["postgres"],
    "requirements-dev.lock": ["postgres", "otel", "dev"],
}
AUDIT = "requirements-audit.lock"


def read_lock(name: str) -> dict[str, tuple[str, int]]:
    """Package → version and number of hashes."""
    text = (ROOT / name).read_text("utf-8").replace("\\\n", " ")
    found: dict[str, tuple[str, int]] = {}
    for line in text.splitlines():
        entry = re.match(r"([\w.-]+)==(\S+)", line)
        assert entry, line
        found[canonicalize_name(entry[1])] = entry[2], len(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", line))
    return found


@pytest.mark.parametrize("name", LOCKS)
def test_every_requirement_is_locked_to_a_version_that_fits(name):
    everything = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project = everything["project"]
    wanted = [*project["dependencies"], *everything["dependency-groups"]["build"]]
    wanted += [each for extra in LOCKS[name] for each in project["optional-dependencies"][extra]]
    locked = read_lock(name)
    for text in wanted:
        requirement = Requirement(text)
        version, _ = locked[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), text


def test_what_builds_the_site_is_locked():
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    locked = read_lock("requirements-docs.lock")
    for requirement in map(Requirement, groups["docs"]):
        assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)][0])


def test_the_driver_of_postgresql_is_not_installed_unasked():
    assert not {"psycopg", "psycopg-binary", "pgvector"} & set(read_lock("requirements.lock"))
    assert "pip-audit" in read_lock(AUDIT)


@pytest.mark.parametrize("name", [*LOCKS, AUDIT, "requirements-docs.lock"])
def test_every_entry_has_a_hash_and_nothing_names_a_host(name):
    assert [package for package, (_, hashes) in read_lock(name).items() if not hashes] == []
    assert not re.search(r"://|index-url|find-links|@ ", (ROOT / name).read_text("utf-8"))


def test_all_lock_the_same_versions():
    program, postgres, develop = ({each: of[0] for each, of in read_lock(name).items()} for name in LOCKS)
    assert program.items() <= postgres.items() <= develop.items()


def load_script(path: Path = SCRIPT):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_bill_lists_what_the_program_needs_with_licences_and_nothing_else():
    bill = load_script().build_sbom()
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    names = [each["name"] for each in bill["components"]]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    direct = {canonicalize_name(Requirement(each).name) for each in project["dependencies"]}
    assert direct | {"psycopg", "psycopg-binary", "pgvector"} <= set(names)
    assert names == sorted(set(names))
    assert not {"pytest", "ruff", "hatchling", "hypothesis", "tokonoma"} & set(names)
    assert set(names) <= set(read_lock("requirements-postgres.lock"))
    assert [each["name"] for each in bill["components"] if not each["licenses"]] == []
    refs = {each["bom-ref"] for each in bill["components"]} | {bill["metadata"]["component"]["bom-ref"]}
    assert {each["ref"] for each in bill["dependencies"]} == refs
    assert {below for each in bill["dependencies"] for below in each["dependsOn"]} <= refs


def test_a_package_in_its_locked_version_has_its_hashes(tmp_path):
    script = load_script()
    version = script.find_version("click")
    lock = tmp_path / "lock"
    entries = {f"click=={version}": "ab", "orjson==0.0": "c"}
    lines = [" \\\n    ".join([name, *(f"--hash=sha256:{each * 64}" for each in of)]) for name, of in entries.items()]
    lock.write_text("\n".join(lines))
    bill = script.build_sbom(lock)
    hashes = {
        each["name"]: [one["content"] for ref in each["externalReferences"] for one in ref["hashes"]]
        for each in bill["components"]
        if "externalReferences" in each
    }
    assert hashes == {"click": ["a" * 64, "b" * 64]}  # what is installed is not the locked version of orjson


def test_the_bill_is_the_same_every_time(tmp_path):
    files = [tmp_path / "one" / "a.json", tmp_path / "b.json"]
    for seed, file in enumerate(files):
        environ = {"PYTHONHASHSEED": str(seed)}
        subprocess.run([sys.executable, str(SCRIPT), str(file)], env=environ, check=True)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert json.loads(files[0].read_text())["serialNumber"].startswith("urn:uuid:")


VULNERABLE = {"name": "b", "version": "2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["3"]}]}


@pytest.mark.parametrize(
    ("found", "code", "says"),
    [
        ([{"name": "a", "version": "1", "vulns": []}], 0, "1 packages, no known vulnerability"),
        ([{"name": "a", "version": "1", "vulns": []}, VULNERABLE], 1, "b 2: PYSEC-1, fixed in 3"),
        ([{"name": "a", "skip_reason": "-"}, {"name": "b", "version": "2", "vulns": []}], 3, "to the service: a"),
        ([{"name": "a", "skip_reason": "not found"}], 3, "nothing was audited"),
    ],
)  # fmt: skip
def test_an_audit_says_what_it_could_not_ask(found, code, says):
    judge = load_script(ROOT / "scripts" / "audit.py").judge
    assert judge("x.lock", json.dumps({"dependencies": found}), "")[0] == code
    assert says in judge("x.lock", json.dumps({"dependencies": found}), "")[1]
    assert judge("x.lock", "", "ConnectionError: refused") == (
        3, "x.lock: nothing was audited, because the advisory service cannot be reached (ConnectionError: refused).",
    )  # fmt: skip


def test_the_tools_of_make_dist_are_locked():
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]["dist"]
    locked = read_lock("requirements-dist.lock")
    for requirement in map(Requirement, wanted):
        assert requirement.specifier.contains(locked[requirement.name][0]), requirement.name
    assert [package for package, (_, hashes) in locked.items() if not hashes] == []
    assert not re.search(r"://|index-url|find-links|@ ", (ROOT / "requirements-dist.lock").read_text("utf-8"))
