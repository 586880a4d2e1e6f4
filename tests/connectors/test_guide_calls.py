"""The first three calls of each service's guide, run in this order against its stand-in, answer as the guide shows."""

import json
import re
import shlex
from collections.abc import Generator
from itertools import pairwise
from typing import Any

import pytest
from connectors.connected import ConnectedServices, connect_all
from connectors.standins import SERVICES
from docs.markdown import ROOT, blocks
from docs.test_examples import shape

from tokonoma import catalogue

GUIDES = ROOT / "docs" / "guides" / "services"
TOOLS = {info.name: info.entries for info in catalogue.read_catalogue(catalogue.SERVICES_FILE)}


@pytest.fixture(scope="module")
def services(tmp_path_factory) -> Generator[ConnectedServices]:
    with connect_all(tmp_path_factory.mktemp("guides") / "home") as connected:
        yield connected


def read_guide(service: str) -> str:
    return (GUIDES / f"{service.replace('_', '-')}.md").read_text(encoding="utf-8")


def list_calls(service: str) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Tool, parameters and the answer that the guide shows."""
    parts = blocks(read_guide(service))
    found: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
    for command, answer in pairwise(parts):
        if command.text.startswith("tokonoma call ") and answer.language == "json":
            _, _, module, tool, *params = shlex.split(command.text)
            assert module == service
            found.append((tool, json.loads(params[0]) if params else {}, json.loads(answer.text)))
    return found


@pytest.mark.parametrize("service", SERVICES)
def test_the_first_calls_answer_as_the_guide_shows(services, service):
    calls = list_calls(service)
    assert len(calls) == 3
    for tool, params, shown in calls:
        answer = services.talk.call(service, tool, **params)
        assert shape(answer, shown) == shape(shown, shown), json.dumps(answer)


@pytest.mark.parametrize("service", SERVICES)
def test_the_guide_names_every_tool_in_its_tier(service):
    table = read_guide(service).partition("## What agents can do")[2].partition("## ")[0]
    rows = [line.split("|")[2:4] for line in table.splitlines() if line.startswith("| ")][1:]
    core, extra = (re.findall(r"`(\w+)`", " ".join(row[column] for row in rows)) for column in (0, 1))
    assert sorted(core) == sorted(tool.name for tool in TOOLS[service] if not tool.extra)
    assert sorted(extra) == sorted(tool.name for tool in TOOLS[service] if tool.extra)


@pytest.mark.parametrize("service", SERVICES)
def test_the_guide_says_which_scope_each_tool_needs(service):
    scopes = read_guide(service).partition("## Scopes")[2].partition("\n## ")[0]
    if "| all |" in scopes:
        return
    named = set(re.findall(r"`(\w+)`", scopes))
    reads = {tool.name for tool in TOOLS[service] if tool.extra and tool.effect == "read"}
    missing = {tool.name for tool in TOOLS[service]} - named
    assert missing <= (reads if "extra tools that read" in scopes else set())
