"""The bundle for Claude Desktop and the entry of the MCP registry, held against their official schemas and run."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from jsonschema import Draft7Validator

from scripts.dist.build import ROOT, find_mcpb, run
from scripts.dist.check_install import clean_environment, try_program

SCHEMA = ROOT / "tests" / "package" / "schemas" / "server.schema.json"


def check_server_json(file: Path) -> str:
    """Valid under the schema that it names, and what the official registry demands beyond it."""
    value, schema = json.loads(file.read_text("utf-8")), json.loads(SCHEMA.read_text("utf-8"))
    if value["$schema"] != schema["$id"]:
        raise SystemExit(f"{file} names {value['$schema']}, and the schema here is {schema['$id']}")
    problems = [error.message for error in Draft7Validator(schema).iter_errors(value)]  # type: ignore[misc]
    if f"mcp-name: {value['name']}" not in (ROOT / "README.md").read_text("utf-8"):
        problems.append(f"README.md lacks `mcp-name: {value['name']}`, by which the registry knows the package on PyPI")
    if f'"{value["name"]}"' not in (ROOT / "Dockerfile").read_text("utf-8"):
        problems.append("Dockerfile lacks the label by which the registry knows the image")
    for package in value["packages"]:
        bundle = file.parent / package["identifier"].rpartition("/")[2]
        wanted = hashlib.sha256(bundle.read_bytes()).hexdigest() if bundle.suffix == ".mcpb" else None
        if package.get("fileSha256") != wanted:
            problems.append(f"{package['identifier']} has another hash")
    if problems:
        raise SystemExit(f"{file}: {'; '.join(problems)}")
    return f"schema {value['$schema'].split('/')[-2]}, {len(value['packages'])} packages"


def check_bundle(bundle: Path, tools: Path, index: Path, folder: Path) -> str:
    """Unpack the bundle as Claude Desktop does, let the official code make the command, and talk with it."""
    unpacked = folder / "extension"
    run([str(find_mcpb()), "unpack", str(bundle), str(unpacked)])
    run([str(find_mcpb()), "validate", str(unpacked / "manifest.json")])
    node = shutil.which("node")
    assert node is not None, "npm was there"
    config: dict[str, Any] = json.loads(run([node, str(ROOT / "scripts/dist/resolve_bundle.mjs"), str(unpacked)]))
    left = [value for value in config["env"].values() if "${" in value]
    if left:
        raise SystemExit(f"settings without a default stay in the environment: {left}")
    environ = clean_environment(
        UV_CACHE_DIR=str(folder / "uv-cache"), UV_OFFLINE="1", UV_NO_INDEX="1", UV_FIND_LINKS=str(index),
        UV_PYTHON_DOWNLOADS="never",
    )  # fmt: skip
    del environ["UV_NO_CONFIG"]  # the wheel and the versions are settings of the bundle
    given = {name: value for name, value in config["env"].items() if name != "TOKONOMA_HOME"}
    seen = try_program([str(tools / config["command"]), *config["args"]], {**environ, **given}, folder)
    declared = [tool["name"] for tool in json.loads((unpacked / "manifest.json").read_text("utf-8"))["tools"]]
    if declared != [tool["name"] for tool in seen["tools"]]:
        raise SystemExit(f"the manifest declares {declared}")
    return f"unpacked, command made by @anthropic-ai/mcpb, {len(declared)} tools, a memo saved and found"
