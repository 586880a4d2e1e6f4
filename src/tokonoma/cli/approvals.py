"""`approvals`: the owner decides about calls for which the policy says `ask`."""

from dataclasses import asdict
from typing import Any

import click

from tokonoma.app import App
from tokonoma.app.approvals import decide_approval, list_approvals, read_approval
from tokonoma.cli.command import group, json_option, pass_app
from tokonoma.cli.output import print_json, print_line, print_note, print_table
from tokonoma.core.clock import format_time
from tokonoma.policy.approvals import Approval


@group("approvals")
def approvals() -> None:
    """Decide about calls that wait for your approval, because a rule of the policy (`tools`) says `ask`.

    An approval is for one call with the parameters that are shown, and is used once. It expires 10 minutes after the
    call was made.
    """


@approvals.command("list", settings=("database_url",))
@click.option("--all", "all_states", is_flag=True, help="Also those that were decided or have expired, for seven days.")
@json_option
@pass_app
def list_command(app: App, all_states: bool, as_json: bool) -> None:
    """List the calls that wait."""
    found = list_approvals(app, all_states=all_states)
    if as_json:
        print_json({"items": [_to_response(each) for each in found]})
    elif found:
        rows = [
            [each.id, each.state, each.principal, each.tool, each.account or "-", format_time(each.expires_at)]
            for each in found
        ]
        print_table(("ID", "STATE", "CALLER", "TOOL", "ACCOUNT", "EXPIRES"), rows)
    else:
        print_note("No call is waiting.")


@approvals.command("show", settings=("database_url",))
@click.argument("id")
@json_option
@pass_app
def show(app: App, id: str, as_json: bool) -> None:
    """Show the call with this ID and its parameters. Secrets and other parts that the policy hides are masked."""
    found = read_approval(app, id)
    if as_json:
        print_json({**_to_response(found), "params": found.params})
        return
    account = f" with the account {found.account}" if found.account else ""
    print_line(f"{found.principal} calls {found.tool}{account}:")
    print_json(found.params)
    print_note(f"It is {found.state}; asked for at {format_time(found.created_at)}.")
    if found.state == "pending":
        print_note(
            f"`tokonoma approvals approve {id}` lets it run once, `tokonoma approvals deny {id}` refuses it, until "
            f"{format_time(found.expires_at)}."
        )


@approvals.command("approve", settings=("database_url",))
@click.argument("id")
@pass_app
def approve(app: App, id: str) -> None:
    """Let the call with this ID run once. The caller has to send it again before it expires."""
    found = decide_approval(app, id, "approved")
    print_line(f"Approved: {found.tool} for {found.principal}, once, until {format_time(found.expires_at)}.")


@approvals.command("deny", settings=("database_url",))
@click.argument("id")
@pass_app
def deny(app: App, id: str) -> None:
    """Refuse the call with this ID. The same call is refused until it expires."""
    found = decide_approval(app, id, "denied")
    print_line(f"Denied: {found.tool} for {found.principal}.")


def _to_response(approval: Approval) -> dict[str, Any]:
    times = {name: format_time(getattr(approval, name)) for name in ("created_at", "expires_at")}
    if approval.decided_at is not None:
        times["decided_at"] = format_time(approval.decided_at)
    return {name: value for name, value in {**asdict(approval), **times}.items() if name != "params" and value}
