"""`/admin/policy`: the text in force, checked and tried before it is applied, its versions, and proposals of agents."""

from typing import Any

from tokonoma.core.errors import Refusal
from tokonoma.server.web.pages.request import PageRequest, PageResponse, build_path, redirect
from tokonoma.server.web.system_parts import SystemParts

PATH = "/admin/policy"


def call_policy(request: PageRequest, tool: str, **params: Any) -> dict[str, Any]:
    return request.call("claims", f"policy.{tool}", **params)


def show_policy(parts: SystemParts, request: PageRequest) -> PageResponse:
    found = call_policy(request, "get", version=request.get_parameter("version") or None)
    return _show_editor(parts, request, found["yaml"])


def change_policy(parts: SystemParts, request: PageRequest) -> PageResponse:
    """`check` looks at the text, `preview` says what it would change, `apply` puts it in force."""
    yaml, action = request.get_field("yaml"), request.get_field("action")
    try:
        if action == "apply":
            call_policy(request, "apply", yaml=yaml, expected_version=request.get_field("expected") or None)
            return redirect(build_path(PATH, "policy_applied"))
        result = call_policy(
            request, "apply", yaml=yaml, **({"dry_run": True} if action == "preview" else {"validate_only": True})
        )
    except Refusal as error:
        return _show_editor(parts, request, yaml, error=error)
    return _show_editor(parts, request, yaml, checked=result)


def _show_editor(
    parts: SystemParts,
    request: PageRequest,
    yaml: str,
    *,
    error: Refusal | None = None,
    checked: dict[str, Any] | None = None,
) -> PageResponse:
    current = call_policy(request, "get")
    values = {
        "yaml": yaml,
        "current": current,
        "current_page": "editor",
        "message": error.message if error else "",
        "problems": error.details.get("problems", ()) if error else (),
        "checked": checked,
        "waiting": len(parts.list_pending()),
    }
    return PageResponse("system/policy.html", values, 400 if error else 200)


def show_history(request: PageRequest) -> PageResponse:
    cursor = request.get_parameter("cursor") or None
    found = call_policy(request, "history", limit=20, cursor=cursor)
    more = build_path(request.path, cursor=found.get("next_cursor")) if found["has_more"] else ""
    values = {
        "versions": found["items"],
        "more": more,
        "current": call_policy(request, "get"),
        "current_page": "history",
    }
    return PageResponse("system/policy_history.html", values)


def roll_back(request: PageRequest) -> PageResponse:
    call_policy(
        request,
        "rollback",
        version=request.get_field("version"),
        expected_version=request.get_field("expected") or None,
    )
    return redirect(build_path(PATH, "policy_applied"))


def show_pending(parts: SystemParts, request: PageRequest) -> PageResponse:
    return PageResponse("system/policy_pending.html", {"pending": parts.list_pending(), "current_page": "pending"})


def decide(parts: SystemParts, request: PageRequest) -> PageResponse:
    approved = request.get_field("decision") == "approve"
    parts.decide_pending(request.owner_caller, request.get_field("id"), approved)
    return redirect(
        build_path(PATH, "policy_applied") if approved else build_path(f"{PATH}/pending", "policy_rejected")
    )


def show_trial(parts: SystemParts, request: PageRequest) -> PageResponse:
    values = {"text": "", "name": "owner", "yaml": "", "verdict": None, "message": "", "current_page": "try"}
    return PageResponse("system/policy_try.html", values)


def try_text(parts: SystemParts, request: PageRequest) -> PageResponse:
    """Nothing is stored."""
    text, name, yaml = (request.get_field(each) for each in ("text", "name", "yaml"))
    values: dict[str, Any] = {"text": text, "name": name, "yaml": yaml, "verdict": None, "message": ""}
    try:
        values["verdict"] = parts.try_text(text, name.strip(), yaml)
    except Refusal as error:
        values["message"] = error.message
    return PageResponse("system/policy_try.html", {**values, "current_page": "try"}, 400 if values["message"] else 200)
