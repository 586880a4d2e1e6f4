"""The catalogue of two services with a tool each, in the place of the shipped one."""

from typing import Any

import pytest

from tokonoma import catalogue
from tokonoma.catalogue import describe_module, dump_catalogue
from tokonoma.core.desk import Desk
from tokonoma.core.errors import ErrorCodes
from tokonoma.core.module import Module, Tool
from tokonoma.core.providers import SERVICE_CODES


def greet(desk: Desk, account: str | None = None) -> dict[str, Any]:
    """Say hello.

    account: which one
    """
    return {"hello": account or "-"}


def build_service(name: str, codes: ErrorCodes = SERVICE_CODES) -> Module:
    return Module(
        name, f"Work in {name}.", (Tool("greet", greet, "Greet"), Tool("close", greet, "Close", "destroy")), codes=codes
    )


GITHUB, JIRA = build_service("github"), build_service("jira")


def use_tiny_services(monkeypatch: pytest.MonkeyPatch, folder: Any) -> None:
    """Let this process know these two services, and look for accounts with every call."""
    infos = [describe_module(each, f"specs.tiny_service:{each.name.upper()}") for each in (GITHUB, JIRA)]
    file = folder / "catalogue-of-services.json"
    file.write_bytes(dump_catalogue(infos))
    monkeypatch.setattr(catalogue, "SERVICES_FILE", file)
    monkeypatch.setattr("tokonoma.app.modules.POLL_SECONDS", 0.0)
    monkeypatch.setattr("tokonoma.catalogue.registry.POLL_SECONDS", 0.0)
