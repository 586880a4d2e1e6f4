"""`policy pending`, `approve`, `reject` and `sign`: the owner decides what a policy may loosen."""

import sys
from dataclasses import asdict
from pathlib import Path

import click

from tokonoma.app import App
from tokonoma.cli.call import read_text
from tokonoma.cli.command import command, json_option, pass_app
from tokonoma.cli.interrupt import report_interrupt
from tokonoma.cli.output import print_json, print_line, print_note, print_table, print_text, rewrite_line
from tokonoma.core.call import OWNER
from tokonoma.core.clock import format_time
from tokonoma.policy.changes import build_payload
from tokonoma.policy.current import format_progress
from tokonoma.policy.proposals import drop_proposal, find_proposal, list_proposals


@command("pending", "database_url")
@json_option
@pass_app
def pending(app: App, as_json: bool) -> None:
    """List the proposed policies that wait for you, and what each would loosen. Clients propose them over MCP."""
    with app.policies.reading() as rows:
        found = list_proposals(rows)
    if as_json:
        print_json({"items": [{**asdict(each), "proposed_at": format_time(each.proposed_at)} for each in found]})
    elif found:
        rows_of = [
            [each.id, each.version, each.follows, format_time(each.proposed_at), each.proposed_by, loosened]
            for each in found
            for loosened in each.loosens
        ]
        print_table(("ID", "VERSION", "AGAINST", "PROPOSED", "BY", "LOOSENS"), rows_of)
    else:
        print_note("No policy is waiting.")


def print_proposal(app: App, id: str) -> None:
    with app.policies.reading() as rows:
        found = find_proposal(rows, id)
    print_text(found.yaml)
    print_note(f"Proposed by {found.proposed_by} at {format_time(found.proposed_at)} against {found.follows}.")
    for each in found.loosens:
        print_note(f"It loosens: {each}")
    print_note(f"`tokonoma policy approve {id}` applies it, `tokonoma policy reject {id}` removes it.")


@command("approve", "database_url", "policy_signers")
@click.argument("id")
@pass_app
def approve(app: App, id: str) -> None:
    """Apply the proposed policy with this ID. It fails if another policy was applied after it was proposed."""
    app.policies.prepare()
    with app.write_as_owner("policy.approve") as statements:
        version = app.policies.approve(statements, id, OWNER.name).version
    wait_for_reclassification(app)
    print_note(f"In force: {version}.")


@command("reject", "database_url")
@click.argument("id")
@pass_app
def reject(app: App, id: str) -> None:
    """Remove the proposed policy with this ID."""
    with app.write_as_owner("policy.reject") as statements:
        find_proposal(statements, id)
        drop_proposal(statements, id)
    print_line(f"Rejected: {id}.")


@command("sign", "database_url")
@click.argument("file")
@click.option("--key", "key_file", metavar="PEM", help="Ed25519 private key: print the signature in base64 instead.")
@pass_app
def sign(app: App, file: str, key_file: str | None) -> None:
    """Print what a signer signs for the policy in FILE: its version, the version that it follows, and its text. A
    signature holds only until another policy is applied."""
    with app.policies.reading() as rows:
        payload = build_payload(rows, app.policies.control, read_text(file))
    if key_file is None:
        sys.stdout.buffer.write(payload)
        sys.stdout.buffer.flush()
        return
    from tokonoma.policy.signatures import sign_bytes

    print_line(sign_bytes(payload, Path(key_file).read_bytes()))


def wait_for_reclassification(app: App) -> None:
    """Wait until every record has the class that the new policy gives it, with progress at a terminal."""

    def print_progress() -> None:
        progress = app.policies.progress()
        if progress is not None:
            rewrite_line(format_progress(progress))

    with report_interrupt(lambda: "The policy was applied; the next process that runs reclassifies the other records."):
        app.reclassifier.run_until_done(None, print_progress)
    rewrite_line("", finished=True)
