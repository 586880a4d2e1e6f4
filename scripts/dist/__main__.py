"""Build and check everything: `make dist`."""

import sys
import tempfile
import time
from pathlib import Path

from scripts.dist.build import ROOT, build_bundle, build_packages, build_server_json
from scripts.dist.check_bundle import check_bundle, check_server_json
from scripts.dist.check_deploy import check_deploy
from scripts.dist.check_install import check_python, check_runners, check_upgrade, fill_index, try_program
from scripts.dist.pythons import VERSIONS, find_pythons

DIST, BUILD = ROOT / "dist", ROOT / "build" / "dist"
TOOLS = ROOT / "build" / "tools" / "bin"
_STARTED = time.monotonic()


def say(what: str, seen: str) -> None:
    sys.stdout.write(f"{time.monotonic() - _STARTED:5.0f} s  {what:<28} {seen}\n")
    sys.stdout.flush()


def main() -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    wheel, source = build_packages(DIST)
    for file in (wheel, source):
        say("built", f"{file.name}, {file.stat().st_size / 1e6:.1f} MB")
    with tempfile.TemporaryDirectory(dir=BUILD) as name:
        folder = Path(name)
        tools = try_program([sys.executable, "-m", "tokonoma", "stdio"], dict(), folder)["tools"]
        bundle = build_bundle(BUILD / "bundle", DIST, wheel, tools)
        say("built", f"{bundle.name}, {bundle.stat().st_size / 1e6:.1f} MB (mcpb validate, mcpb pack)")
        server = build_server_json(DIST, bundle)
        say("built", f"{server.name} ({check_server_json(server)})")
        for what, seen in check_deploy(TOOLS).items():
            say(what, seen)
        pythons, index = find_pythons(), BUILD / "index"
        fill_index(index, pythons, [wheel, source])
        say("index", f"{len(list(index.iterdir()))} files for Python {', '.join(pythons)}")
        for version in VERSIONS:
            if version not in pythons:
                say(f"Python {version}", "NOT TRIED: not found on this machine; PYTHONS= names it")
                continue
            for file in (wheel, source):
                what = f"Python {version}, {'wheel' if file is wheel else 'sdist'}"
                say(what, check_python(version, pythons[version], file, index, folder))
        for what, seen in check_runners(TOOLS, index, folder).items():
            say(what, seen)
        say("Claude Desktop", check_bundle(bundle, TOOLS, index, folder))
        for what, seen in check_upgrade(TOOLS, wheel, index, folder).items():
            say(what, seen)
    say("done", f"{DIST.name}/ holds {', '.join(sorted(file.name for file in DIST.iterdir()))}")


if __name__ == "__main__":
    main()
