"""`policy`: show, check, apply, compare and roll back the policy, and try it on a text. What is changed here acts at
once: the terminal is the owner's."""

import re
import sys
from typing import Any

import click

from tokonoma.app import App
from tokonoma.app.policies import build_control
from tokonoma.cli.call import call_tool, read_text
from tokonoma.cli.command import group, json_option, pass_app
from tokonoma.cli.hidden_records import forget, records
from tokonoma.cli.output import print_json, print_line, print_note, print_table, print_text
from tokonoma.cli.proposals import approve, pending, print_proposal, reject, sign, wait_for_reclassification
from tokonoma.core.call import OWNER, Principal
from tokonoma.core.printable import pluralize
from tokonoma.policy.changes import parse_proposed
from tokonoma.policy.current import format_progress
from tokonoma.policy.parse import parse_policy
from tokonoma.policy.rules import decide, find_tags

_PROPOSAL_ID = re.compile("[0-9a-f]{12}")
_HISTORY = ("version", "applied_at", "applied_by", "approver", "rolled_back_to")


@group("policy")
def policy() -> None:
    """Show, check, apply, compare and roll back the policy, or test it with a text.

    FILE is a YAML file, or `-` for standard input.
    """


@policy.command("show", settings=("database_url",))
@click.argument("version", required=False, metavar="[VERSION|ID]")
@click.option("--history", is_flag=True, help="List every version instead, newest first.")
@pass_app
def show_policy(app: App, version: str | None, history: bool) -> None:
    """Print the policy in force, the one with this VERSION, or the proposal with this ID and what it would loosen."""
    if version is not None and _PROPOSAL_ID.fullmatch(version):
        print_proposal(app, version)
        return
    if history:
        versions = _call_policy_tool(app, "history", limit=100)["items"]
        rows = [[str(each.get(name, "-")) for name in _HISTORY] for each in versions]
        print_table(("VERSION", "APPLIED", "BY", "APPROVED BY", "TEXT OF"), rows)
        return
    found = _call_policy_tool(app, "get", version=version)
    progress = app.policies.progress() if version is None else None
    print_text(found["yaml"])
    print_note(f"Version {found['version']}." if progress is None else f"{format_progress(progress)}.")


@policy.command("check")
@click.argument("file")
@pass_app
def check(app: App, file: str) -> None:
    """Check a policy without applying it, and print its problems. The exit code is 1 if there are any."""
    rules = parse_proposed(build_control(app), read_text(file))
    detectors = pluralize(len(rules.detectors), "own detector")
    tools = f", {pluralize(len(rules.tools), 'rule')} about tools" if rules.tools else ""
    places = pluralize(len(rules.placements), "rule")
    print_note(f"Valid: version {rules.version}, {places} by place, {detectors}{tools}.")


@policy.command("apply", settings=("database_url", "policy_signers"))
@click.argument("file")
@click.option("--dry-run", is_flag=True, help="Report what would change, but change nothing.")
@click.option("--expected", "expected_version", help="Fail if another version is in force.")
@click.option("--approver", help="Who approved it.")
@click.option("--signature", help="Ed25519 signature in base64, if policies must be signed. See `policy sign`.")
@pass_app
def apply(app: App, file: str, dry_run: bool, **options: str | None) -> None:
    """Apply the policy in FILE. Records that need a stricter class get it first, then the policy takes effect, then the
    other records are reclassified. Servers can keep running; an interrupted run is finished by the next process."""
    result = _call_policy_tool(app, "apply", yaml=read_text(file), dry_run=dry_run, **options)
    if dry_run:
        _print_preview(result)
        return
    wait_for_reclassification(app)
    print_note(f"In force: {result['version']}.")


@policy.command("diff", settings=("database_url",))
@click.argument("file")
@pass_app
def diff(app: App, file: str) -> None:
    """Compare the policy in force with FILE, and report what applying it would change."""
    _print_preview(_call_policy_tool(app, "apply", yaml=read_text(file), dry_run=True))


@policy.command("rollback", settings=("database_url",))
@click.argument("version")
@click.option("--expected", help="Fail if another version is in force.")
@pass_app
def rollback(app: App, version: str, expected: str | None) -> None:
    """Apply the text of an earlier VERSION again, as a new version."""
    result = _call_policy_tool(app, "rollback", version=version, expected_version=expected or None)
    wait_for_reclassification(app)
    print_note(f"In force: {result['version']}, with the text of {version}.")


@policy.command("test", settings=("database_url",))
@click.argument("text")
@click.option("--as", "name", default="owner", show_default=True, help="The caller: owner, or key:NAME.")
@click.option("--policy", "file", help="Use the policy in this file instead of the one in force.")
@json_option
@pass_app
def test(app: App, text: str, name: str, file: str | None, as_json: bool) -> None:
    """Show what the detectors find in TEXT, its class, and whether the caller may see it. Nothing is stored."""
    from tokonoma.policy.active import ActivePolicy, ClosedPolicy

    active = ActivePolicy(parse_policy(read_text(file))) if file else app.policies.get_active()
    if isinstance(active, ClosedPolicy):
        raise active.build_refusal()
    redacted, found, classification = active.redact(text if text != "-" else sys.stdin.read())
    tags = find_tags(active.rules, OWNER if name == "owner" else Principal(name, "key"))
    verdict = decide(active.rules, tags, classification).verdict
    if as_json:
        found_in = {"policy_version": active.version, "found": found, "class": classification, "redacted": redacted}
        print_json({**found_in, "tags": list(tags), "verdict": verdict})
        return
    print_text(redacted)
    counts = ", ".join(f"{count} × {kind}" for kind, count in found.items()) or "nothing"
    print_note(f"Found {counts}. Class {classification}: {verdict} for {name} ({', '.join(tags) or 'no tags'}).")


def _call_policy_tool(app: App, tool: str, **params: Any) -> dict[str, Any]:
    return call_tool(app, "claims", f"policy.{tool}", **params)["data"]


def _print_preview(result: dict[str, Any]) -> None:
    preview = result["preview"]
    print_line("\n".join(preview["diff"]) or "The texts are the same.")
    for each in preview["loosens"]:
        print_line(f"It loosens: {each}")
    moves = [f"{count} {move}" for move, count in preview["relabelled"].items()]
    visibility = f"for you {preview['vanish']} vanish, {preview['appear']} appear"
    changes = f"{', '.join(moves) or 'no record changes its class'}; {visibility}"
    print_note(f"It would be {result['version']}. Of {preview['records']} records: {changes}.")


for each in (pending, approve, reject, sign, records, forget):
    policy.add_command(each)
