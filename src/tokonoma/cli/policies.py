"""`policy`: show, check, apply, compare and roll back the policy, and try it on a text."""

import sys
from pathlib import Path
from typing import Any

import click
import orjson

from tokonoma.app import App
from tokonoma.cli import show
from tokonoma.cli.call import send_request
from tokonoma.cli.flags import group
from tokonoma.cli.session import open_app
from tokonoma.core.call import OWNER, Principal
from tokonoma.core.desk import CLASSIFICATIONS
from tokonoma.policy.current import format_progress
from tokonoma.policy.parse import parse_policy
from tokonoma.policy.rules import decide, find_tags


@group("policy")
def policy() -> None:
    """Show, check, apply, compare and roll back the policy, or try it on a text.

    FILE is a YAML file, or `-` for standard input.
    """


@policy.command("show", settings=("database_url",))
@click.argument("version", required=False)
@click.option("--history", is_flag=True, help="List every version instead, newest first.")
@click.pass_context
def show_policy(ctx: click.Context, version: str | None, history: bool) -> None:
    """Print the policy in force, or the one with this VERSION."""
    with open_app(ctx) as app:
        if history:
            told = _call_policy_tool(ctx, app, "policy.history", {"limit": 100})
            rows = [_history_row(each) for each in told["items"]]
            show.print_table(("VERSION", "APPLIED", "BY", "APPROVED BY", "TEXT OF"), rows)
            return
        told = _call_policy_tool(ctx, app, "policy.get", {} if version is None else {"version": version})
        progress = app.policies.progress() if version is None else None
    click.echo(told["yaml"], nl=not told["yaml"].endswith("\n"))
    show.print_note(f"Version {told['version']}." if progress is None else f"{format_progress(progress)}.")


@policy.command("check")
@click.argument("file")
def check(file: str) -> None:
    """Check a policy and say every problem with its line; the exit code is 1 if there is one. Nothing is applied."""
    rules = parse_policy(_read_file(file))
    show.print_note(
        f"Fine: version {rules.version}, {len(rules.placements)} labels, {len(rules.detectors)} detectors of its own."
    )


@policy.command("apply", settings=("database_url", "policy_signers"))
@click.argument("file")
@click.option("--dry-run", is_flag=True, help="Tell what would change, and change nothing.")
@click.option("--expected", help="Refuse if another version than this is in force.")
@click.option("--approver", help="Who approved it.")
@click.option("--signature", help="Ed25519 signature of the file in base64, where policies must be signed.")
@click.pass_context
def apply(
    ctx: click.Context, file: str, dry_run: bool, expected: str | None, approver: str | None, signature: str | None
) -> None:
    """Put the policy in FILE in force: first records that it wants to be stricter become so, then it holds, then those
    that may be milder follow. Servers may run on; whoever is interrupted leaves the rest to the next."""
    asked = {"yaml": _read_file(file), "expected_version": expected, "approver": approver, "signature": signature}
    given = {key: value for key, value in asked.items() if value is not None}
    with open_app(ctx) as app:
        told = _call_policy_tool(ctx, app, "policy.apply", {**given, "dry_run": dry_run})
        _wait_for_reclassification(app)
    if dry_run:
        _print_preview(told)
    else:
        show.print_note(f"In force: {told['version']}.")


@policy.command("diff", settings=("database_url",))
@click.argument("file")
@click.pass_context
def diff(ctx: click.Context, file: str) -> None:
    """Compare the policy in force with FILE, and tell what applying it would change."""
    with open_app(ctx) as app:
        _print_preview(_call_policy_tool(ctx, app, "policy.apply", {"yaml": _read_file(file), "dry_run": True}))


@policy.command("rollback", settings=("database_url",))
@click.argument("version")
@click.option("--expected", help="Refuse if another version than this is in force.")
@click.pass_context
def rollback(ctx: click.Context, version: str, expected: str | None) -> None:
    """Put the text of an earlier VERSION in force again, under a version of its own."""
    asked = {"version": version} | ({"expected_version": expected} if expected else {})
    with open_app(ctx) as app:
        told = _call_policy_tool(ctx, app, "policy.rollback", asked)
        _wait_for_reclassification(app)
    show.print_note(f"In force: {told['version']}, with the text of {version}.")


@policy.command("test", settings=("database_url",))
@click.argument("text")
@click.option("--as", "name", default="owner", show_default=True, help="Who asks: owner, or a key as key:NAME.")
@click.option("--policy", "file", help="With the policy in this file instead of the one in force.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def test(ctx: click.Context, text: str, name: str, file: str | None, as_json: bool) -> None:
    """Show what the detectors find in TEXT, the class that it would get, and who may see it. Nothing is stored."""
    from tokonoma.policy.active import ActivePolicy

    with open_app(ctx) as app:
        current = ActivePolicy(parse_policy(_read_file(file))) if file else app.policy
    redacted, found, label = current.redact(text if text != "-" else sys.stdin.read())
    who = OWNER if name == "owner" else Principal(name, "key")
    tags = find_tags(current.rules, who)
    verdicts = {each: decide(current.rules, tags, each).verdict for each in CLASSIFICATIONS}
    told = {
        "policy_version": current.version, "found": found, "class": label, "redacted": redacted, "tags": list(tags),
        "verdict": verdicts[label],
    }  # fmt: skip
    if as_json:
        show.print_json(told)
        return
    click.echo(redacted)
    counts = ", ".join(f"{count} × {kind}" for kind, count in found.items()) or "nothing"
    show.print_note(f"Found {counts}. Class {label}: {verdicts[label]} for {name} ({', '.join(tags) or 'no tags'}).")


def _call_policy_tool(ctx: click.Context, app: App, tool: str, params: dict[str, Any]) -> dict[str, Any]:
    """Through the whole pipeline, so that the journal holds it."""
    answer = send_request(app, "call", {"module": "claims", "tool_name": tool, "params": params})
    told = orjson.loads(answer.content[0]["text"])
    if answer.is_error:
        show.print_note(f"tokonoma: {told['error']['message']}")
        for problem in told["error"]["details"].get("problems", []):
            show.print_note(
                f"  line {problem['line']}, column {problem['column']}: {problem['key']}: {problem['message']}"
            )
        ctx.exit(1)
    return told["data"]


def _wait_for_reclassification(app: App) -> None:
    """Until every record has followed, with how far it is on a terminal."""

    def tell() -> None:
        progress = app.policies.progress()
        if progress is not None and sys.stderr.isatty():
            click.echo(f"\r{format_progress(progress)}", nl=False, err=True)

    app.reclassifier.run_until_done(told=tell)
    if sys.stderr.isatty():
        click.echo(err=True)


def _print_preview(told: dict[str, Any]) -> None:
    seen = told["preview"]
    click.echo("\n".join(seen["diff"]) or "The texts are the same.")
    moves = ", ".join(f"{count} {move}" for move, count in seen["relabelled"].items()) or "no record changes its class"
    sight = f"for you {seen['vanish']} vanish, {seen['appear']} appear"
    show.print_note(f"It would be {told['version']}. Of {seen['records']} records: {moves}; {sight}.")


def _history_row(each: dict[str, Any]) -> tuple[str, ...]:
    names = ("version", "applied_at", "applied_by", "approver", "rolled_back_to")
    return tuple(str(each.get(name, "-")) for name in names)


def _read_file(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(file).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise click.BadParameter(f"{file}: this is not UTF-8 text ({error.reason}).") from None
