"""What is published describes this program: bundle, registry entry, image, manifests. `make dist` tries them."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from tokonoma import __version__
from tokonoma.config.home import load_settings
from tokonoma.config.settings import SETTINGS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "package"
DEPLOY = ROOT / "examples" / "deploy"
KNOWN = {setting.variable for setting in SETTINGS} | {"TOKONOMA_HOME"}


def read_json(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == __version__
    manifests = (DEPLOY / "kubernetes" / "tokonoma.yaml").read_text("utf-8")
    assert f"ghcr.io/tokonoma/tokonoma:{__version__}\n" in manifests


def test_the_entry_of_the_registry_is_valid():
    value, schema = (
        read_json(PACKAGE / "server.json"),
        read_json(Path(__file__).parent / "schemas" / "server.schema.json"),
    )
    assert value["$schema"] == schema["$id"]
    assert [error.message for error in Draft7Validator(schema).iter_errors(value)] == []
    assert {each["registryType"] for each in value["packages"]} == {"pypi", "mcpb", "oci"}
    assert f"mcp-name: {value['name']}" in (ROOT / "README.md").read_text("utf-8")
    assert f'io.modelcontextprotocol.server.name="{value["name"]}"' in (ROOT / "Dockerfile").read_text("utf-8")
    names = [each["name"] for package in value["packages"] for each in package.get("environmentVariables", [])]
    assert set(names) <= KNOWN


def test_the_form_of_the_bundle_has_settings_of_this_program(tmp_path):
    manifest = read_json(PACKAGE / "mcpb" / "manifest.json")
    environ, form = manifest["server"]["mcp_config"]["env"], manifest["user_config"]
    assert set(environ) <= KNOWN
    assert {re.fullmatch(r"\$\{user_config\.(\w+)\}", value)[1] for value in environ.values()} == set(form)
    # Without a default, what a person leaves empty would reach the server as `${user_config.…}`.
    filled = {name: form[name.removeprefix("TOKONOMA_").lower()]["default"] for name in environ}
    settings = load_settings(tmp_path, {}, filled)
    assert [name for name, value in settings.values.items() if value != _default(name)] == []


def _default(name: str) -> object:
    return next(setting.default for setting in SETTINGS if setting.name == name)


def test_the_form_is_translated():
    form = read_json(PACKAGE / "mcpb" / "manifest.json")["user_config"]
    japanese = read_json(PACKAGE / "mcpb" / "mcpb-resources" / "ja-JP.json")["user_config"]
    assert set(japanese) == set(form)
    assert all(re.search(r"[ぁ-ん]", each["description"] + each["title"]) for each in japanese.values())


def list_documents() -> list[tuple[str, Any]]:
    files = sorted([*DEPLOY.rglob("*.yaml"), *DEPLOY.rglob("*.yml")])
    return [(file.name, document) for file in files for document in yaml.safe_load_all(file.read_text("utf-8"))]


def find_variables(value: Any) -> set[str]:
    """Every TOKONOMA_ name in a tree, wherever it stands."""
    if isinstance(value, dict):
        return {name for pair in value.items() for each in pair for name in find_variables(each)}
    if isinstance(value, list):
        return {name for each in value for name in find_variables(each)}
    return set(re.findall(r"^TOKONOMA_[A-Z_]+$", str(value)))


@pytest.mark.parametrize(("name", "document"), list_documents())
def test_examples_set_variables_that_exist(name, document):
    # Of the examples themselves: the name of the machine, the version of the image, the address to keep awake.
    own = {"TOKONOMA_NAME", "TOKONOMA_VERSION", "TOKONOMA_URL"}
    assert find_variables(document) - own <= KNOWN


def test_containers_run_without_rights():
    documents = [document for name, document in list_documents() if name == "tokonoma.yaml"]
    (pod,) = (each["spec"]["template"]["spec"] for each in documents if each["kind"] == "Deployment")
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["enableServiceLinks"] is False  # else the cluster sets TOKONOMA_PORT to something else
    (container,) = pod["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    (compose,) = (document for name, document in list_documents() if name == "compose.yaml")
    for name in ("tokonoma", "caddy"):
        assert compose["services"][name]["read_only"] is True
        assert compose["services"][name]["cap_drop"] == ["ALL"]
    assert set(compose["services"]["tokonoma"]["environment"]) - {"PGPASSWORD"} <= KNOWN


def test_the_image_is_built_from_files_that_are_sent_to_it():
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")
    copied = {
        word for line in re.findall(r"^COPY (?!--from)(.+)$", dockerfile, re.MULTILINE) for word in line.split()[:-1]
    }
    assert copied == sent
    assert all((ROOT / name).exists() for name in sent)
