"""What exactly a credential sees, and by which rule a tool is hidden from it: for commands and pages."""

from dataclasses import replace
from typing import TYPE_CHECKING

from tokonoma.app.reaches import choose_module
from tokonoma.auth.credentials import find_credential
from tokonoma.catalogue import SERVICES_FILE, read_catalogue
from tokonoma.catalogue.explain import AccessVerdict, explain_access
from tokonoma.catalogue.registry import GATEWAY
from tokonoma.core.call import Principal
from tokonoma.core.errors import Invalid, Missing, find_nearest
from tokonoma.core.module import ModuleInfo, ToolInfo
from tokonoma.core.namespaces import normalize_namespace

if TYPE_CHECKING:
    from tokonoma.app import App


def find_principal(app: "App", credential: str) -> Principal:
    """The principal of `key:NAME`, `client:NAME`, `person:NAME` or `owner`."""
    with app.database.reading() as rows:
        principal = find_credential(rows, credential)
    app.modules.look_now()  # services that another process has connected
    return principal


def list_maskable(app: "App") -> dict[str, ModuleInfo]:
    """All modules that a mask may name: also a service that is not connected."""
    services = {info.name: replace(info, accounts=()) for info in read_catalogue(SERVICES_FILE)}
    infos = {**services, **app.registry.list_all()}
    del infos[GATEWAY]  # its tools are there for everybody
    return infos


def find_any_tool(app: "App", path: str) -> tuple[ModuleInfo, ToolInfo]:
    """Any tool that there is, by its path or one of its names: also of a service that is not connected."""
    name, dot, tool = path.partition(".")
    if not dot:
        raise Invalid("Write the tool as MODULE.TOOL, such as memory.save.", field="tool")
    info = choose_module(list_maskable(app), name)
    named = [each for each in info.entries if tool in (each.name, each.listed, *each.aliases)]
    if not named:
        nearest = find_nearest(tool, [each.name for each in info.entries])
        hint = f"Did you mean {nearest[0]!r}?" if nearest else f"`tokonoma schema {name}` lists them."
        raise Missing(f"There is no tool called {tool!r} in {name}. {hint}", reason="tool", nearest=nearest)
    return info, named[0]


def try_tool_as(
    app: "App", principal: Principal, path: str, account: str | None, namespace: str | None
) -> tuple[ToolInfo, AccessVerdict]:
    """Whether this principal may use a tool: with this account of a service, in this namespace."""
    info, entry = find_any_tool(app, path)
    verdict = explain_access(
        info,
        entry,
        principal.reach,
        account=account,
        namespace=None if namespace is None else normalize_namespace(namespace),
        is_disabled=info.name in app.settings.get_names("modules_off"),
    )
    return entry, verdict
