"""Dockerfile, compose file, manifests and workflow, as far as they can be checked without a Docker or a cluster."""

import shutil
import sys
import tempfile
from pathlib import Path

from scripts.dist.build import ROOT, run
from scripts.dist.check_install import measure

DEPLOY = ROOT / "examples" / "deploy"
YAML = "{extends: default, rules: {line-length: {max: 130}, document-start: disable}}"
BASE_SIZE, BASE_PACKED = 59_500_000, 22_400_000
"""Bytes of gcr.io/distroless/python3-debian13, measured by unpacking the Debian packages that it is made of, and those
of the same files in a tar.gz, which is what a registry stores and sends."""
LARGEST = 150_000_000


def check_deploy(tools: Path) -> dict[str, str]:
    """What was checked, and with what."""
    run([str(tools / "hadolint"), str(ROOT / "Dockerfile")])
    run([str(tools / "yamllint"), "--strict", "-d", YAML, str(DEPLOY)])
    schema = [str(tools / "check-jsonschema"), "--builtin-schema"]
    run([*schema, "vendor.compose-spec", str(DEPLOY / "compose" / "compose.yaml")])
    run([*schema, "vendor.github-workflows", str(DEPLOY / "free-tier" / "keep-awake.yml")])
    told = run([str(tools / "kubernetes-validate"), "--strict", str(DEPLOY / "kubernetes" / "tokonoma.yaml")])
    return {
        "Dockerfile": f"hadolint; {estimate_image(tools)}",
        "compose.yaml": "yamllint, schema of Compose",
        "tokonoma.yaml (Kubernetes)": f"yamllint, {told.count('passed for resource')} resources, strict",
        "keep-awake.yml": "yamllint, schema of GitHub workflows",
    }


def estimate_image(tools: Path) -> str:
    """The size of the image: its base, and what its first stage installs, with bytecode."""
    with tempfile.TemporaryDirectory() as name:
        site = Path(name) / "site"
        lock = str(ROOT / "requirements-dev.lock")
        words = [str(tools / "uv"), "pip", "install", "--quiet", "--python", sys.executable, "--target", str(site)]
        run([*words, "--compile-bytecode", "--constraint", lock, "--build-constraint", lock, f"{ROOT}[postgres]"])
        for kind in ("tests", "f2py", "include"):
            for folder in site.glob(f"numpy/**/{kind}"):
                shutil.rmtree(folder, ignore_errors=True)
        for file in site.rglob("*.pyi"):
            file.unlink()
        packed = Path(shutil.make_archive(str(Path(name) / "packed"), "gztar", site)).stat().st_size
        size = BASE_SIZE + measure(site, compiled=True)
    if BASE_PACKED + packed > LARGEST:
        raise SystemExit(f"the image has {(BASE_PACKED + packed) / 1e6:.0f} MB")
    return f"about {(BASE_PACKED + packed) / 1e6:.0f} MB as registries count it, {size / 1e6:.0f} MB unpacked"
