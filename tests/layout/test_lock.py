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
LOCKS = {"requirements.lock": ["postgres"], "requirements-dev.lock": ["postgres", "otel", "dev"]}


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


@pytest.mark.parametrize("name", LOCKS)
def test_every_entry_has_a_hash_and_nothing_names_a_host(name):
    assert [package for package, (_, hashes) in read_lock(name).items() if not hashes] == []
    assert not re.search(r"://|index-url|find-links|@ ", (ROOT / name).read_text("utf-8"))


def test_both_lock_the_same_versions():
    program, develop = (read_lock(name) for name in LOCKS)
    assert {name: version for name, (version, _) in program.items()}.items() <= {
        name: version for name, (version, _) in develop.items()
    }.items()


def load_script():
    spec = importlib.util.spec_from_file_location("make_sbom", SCRIPT)
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
    assert set(names) <= set(read_lock("requirements.lock"))
    assert [each["name"] for each in bill["components"] if not each["licenses"]] == []
    refs = {each["bom-ref"] for each in bill["components"]} | {bill["metadata"]["component"]["bom-ref"]}
    assert {each["ref"] for each in bill["dependencies"]} == refs
    assert {below for each in bill["dependencies"] for below in each["dependsOn"]} <= refs


def test_a_package_in_its_locked_version_has_its_hashes(tmp_path):
    script = load_script()
    version = script.find_version("click")
    lock = tmp_path / "lock"
    entries = {f"click=={version}": "ab", "rich==0.0": "c"}
    lines = [" \\\n    ".join([name, *(f"--hash=sha256:{each * 64}" for each in of)]) for name, of in entries.items()]
    lock.write_text("\n".join(lines))
    bill = script.build_sbom(lock)
    hashes = {
        each["name"]: [one["content"] for ref in each["externalReferences"] for one in ref["hashes"]]
        for each in bill["components"]
        if "externalReferences" in each
    }
    assert hashes == {"click": ["a" * 64, "b" * 64]}  # what is installed is not the locked version of rich


def test_the_bill_is_the_same_every_time(tmp_path):
    files = [tmp_path / "one" / "a.json", tmp_path / "b.json"]
    for seed, file in enumerate(files):
        environ = {"PYTHONHASHSEED": str(seed)}
        subprocess.run([sys.executable, str(SCRIPT), str(file)], env=environ, check=True)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert json.loads(files[0].read_text())["serialNumber"].startswith("urn:uuid:")


def test_the_tools_of_make_dist_are_locked():
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]["dist"]
    locked = read_lock("requirements-dist.lock")
    for requirement in map(Requirement, wanted):
        assert requirement.specifier.contains(locked[requirement.name][0]), requirement.name
    assert [package for package, (_, hashes) in locked.items() if not hashes] == []
    assert not re.search(r"://|index-url|find-links|@ ", (ROOT / "requirements-dist.lock").read_text("utf-8"))
