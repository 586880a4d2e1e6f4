"""`doctor`: checks everything and says what to do. It changes nothing, and creates no database."""

import sys
from dataclasses import asdict

import click

from tokonoma.app import App, read_environment
from tokonoma.app.doctor import machine
from tokonoma.app.doctor.checks import check_app
from tokonoma.app.doctor.machine import Finding, run_check
from tokonoma.app.places import find_sqlite_file
from tokonoma.cli.command import command, get_flags, json_option
from tokonoma.cli.output import print_json, print_line, print_marked
from tokonoma.config.home import find_home
from tokonoma.config.settings import check_module_names
from tokonoma.core.errors import Refusal
from tokonoma.core.log import set_level

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


@command("doctor", "database_url", "host", "port")
@json_option
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Check the installation and say what to do. The exit code is 1 if a check fails; warnings do not count."""
    findings = run_checks(ctx)
    failed = any(finding.state == "fail" for finding in findings)
    if as_json:
        print_json({"ok": not failed, "findings": [asdict(finding) for finding in findings]})
    else:
        _print_findings(findings)
    sys.exit(1 if failed else 0)


def run_checks(ctx: click.Context) -> list[Finding]:
    flags = get_flags(ctx)
    findings = run_check("python", machine.check_python) + run_check("sqlite", machine.check_sqlite)
    try:
        app = App(flags)
        check_module_names(app.settings, app.registry.list_names())
        file = find_sqlite_file(app)
    except Refusal as error:
        place = find_home(flags.get("home"), read_environment()) / "tokonoma.toml"
        remedy = f"Correct it in {place}, in the environment or in the command, then run the doctor again."
        return [*findings, Finding("settings", "fail", error.message, remedy)]
    set_level("error")  # the findings say what the log would say
    return [*findings, *check_app(app, file)]


def _print_findings(findings: list[Finding]) -> None:
    color = False if "NO_COLOR" in read_environment() else None
    for finding in findings:
        text = f"  {finding.name:<11}  {finding.says}" + (f"\n{'':<19}→ {finding.do}" if finding.do else "")
        mark, bold = f"{finding.state:<4}", finding.state != "ok"
        print_marked(mark, _COLOURS[finding.state], text, bold=bold, color=color)
    counts = {state: sum(finding.state == state for finding in findings) for state in _COLOURS}
    print_line(f"\n{counts['ok']} ok, {counts['warn']} warnings, {counts['fail']} failed.")
