"""The page on which a reach is edited: of a new or a known key, of a client, of a new person, of a profile."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tokonoma.auth.reaches import to_response
from tokonoma.core.call import Principal
from tokonoma.core.errors import Refusal
from tokonoma.core.reach import UNLIMITED, Reach
from tokonoma.server.web.access_parts import CredentialParts, ReachFields
from tokonoma.server.web.pages.access.reach_form import build_tree, read_fields, to_fields
from tokonoma.server.web.pages.request import PageRequest, PageResponse

CLIENTS = "/admin/clients"


@dataclass(frozen=True, slots=True)
class EditedReach:
    """What is edited. `kind`: keys, grants, people or profiles; `name` is empty for a new one."""

    kind: str
    name: str
    reach: Reach = UNLIMITED
    command: str = ""  # that does the same
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])


def write_options(reach: Reach) -> str:
    """The options of a command that gives this reach."""
    told = to_response(reach)
    named = {
        "--root": told["root"],
        "--default": told["default"],
        "--modules": "all" if told["modules"] == "all" else ",".join(told["modules"]),
        "--mask": f"'{','.join(told['mask'])}'",
        "--extras": f"'{','.join(told.get('extras', []))}'",
    }
    return " ".join(f"{name} {value}" for name, value in named.items())


def show_editor(parts: CredentialParts, request: PageRequest, edited: EditedReach) -> PageResponse:
    """As it is stored, or as the profile has it that was chosen."""
    reach = edited.reach
    chosen = request.get_parameter("profile")
    for profile in parts.list_profiles():
        if profile.name == chosen:
            reach = profile.reach
    return _render(parts, request, edited, to_fields(reach), reach)


def read_reach(parts: CredentialParts, request: PageRequest, edited: EditedReach) -> Reach:
    """The checked reach of the form. Raises Refusal."""
    return parts.check_reach(edited.reach, read_fields(request, edited.reach))


def show_again(
    parts: CredentialParts, request: PageRequest, edited: EditedReach, problem: Refusal | None = None
) -> PageResponse:
    """The form with what was typed: after a mistake, or as a preview with the rules that would be stored."""
    try:
        fields = read_fields(request, edited.reach)
    except Refusal as error:
        return _render(parts, request, edited, to_fields(edited.reach), edited.reach, error.message)
    try:
        reach = parts.check_reach(edited.reach, fields)
    except Refusal as error:
        return _render(parts, request, edited, fields, None, error.message)
    return _render(parts, request, edited, fields, reach, problem.message if problem else "")


def _render(
    parts: CredentialParts,
    request: PageRequest,
    edited: EditedReach,
    fields: ReachFields,
    reach: Reach | None,
    problem: str = "",
) -> PageResponse:
    typed = {name: request.get_field(name) for name in ("name", "expires")} if request.form else {}
    values: dict[str, Any] = {
        "edited": edited,
        "fields": fields,
        "tree": build_tree(parts.list_modules(), fields),
        "result": reach,
        "seen": [] if reach is None else parts.list_seen(Principal("key:preview", "key", reach)),
        "command": f"{edited.command} {write_options(reach)}" if edited.command and reach else "",
        "profiles": [each.name for each in parts.list_profiles()],
        "profile": request.get_parameter("profile"),
        "is_preview": bool(request.form),
        "typed": {"name": edited.name, "expires": edited.facts.get("expires", ""), **typed},
        "problem": problem,
    }
    return PageResponse("access/editor.html", values, 400 if problem else 200)
