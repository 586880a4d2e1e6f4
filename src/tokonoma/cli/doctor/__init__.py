"""`doctor`: looks at everything and says what to do. It changes nothing, and makes no database where there is none."""

from dataclasses import asdict

import click

from tokonoma.app import App, read_environment
from tokonoma.cli import show
from tokonoma.cli.backups import find_sqlite_file
from tokonoma.cli.doctor import around, machine, meaning
from tokonoma.cli.doctor.finding import Finding, run_check
from tokonoma.cli.doctor.stored import check_database
from tokonoma.cli.flags import command, get_flags
from tokonoma.config.home import find_home
from tokonoma.core.errors import Refusal
from tokonoma.core.log import set_level

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


@command("doctor", "database_url", "host", "port")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Check everything and say what to do. The exit code is 1 if anything fails; a warning does not count."""
    findings = run_checks(ctx)
    failed = any(finding.state == "fail" for finding in findings)
    if as_json:
        show.print_json({"ok": not failed, "findings": [asdict(finding) for finding in findings]})
    else:
        _print_findings(findings)
    ctx.exit(1 if failed else 0)


def run_checks(ctx: click.Context) -> list[Finding]:
    flags = get_flags(ctx)
    findings = run_check("python", machine.check_python) + run_check("sqlite", machine.check_sqlite)
    try:
        app = App(flags)
        file = find_sqlite_file(app)
    except Refusal as error:
        place = find_home(flags.get("home"), read_environment()) / "tokonoma.toml"
        remedy = f"Mend it in {place}, in the environment or in the command; then look again."
        return [*findings, Finding("settings", "fail", error.message, remedy)]
    set_level("error")  # what the log would say is said here
    findings.append(Finding("settings", "ok", _describe_settings(app)))
    findings += run_check("home", lambda: machine.check_home(app.home, file))
    folder = app.home if file is None else file.parent
    findings += run_check("file system", lambda: machine.check_disk(folder, sqlite_there=file is not None))
    findings += run_check("plugins", lambda: around.check_plugins(app.home))
    findings += run_check(
        "port", lambda: around.check_port(app.settings.get_text("host"), app.settings.get_int("port"))
    )
    findings += run_check("embedding", lambda: meaning.check_embedding(app.settings))
    findings += run_check("readings", meaning.check_readings)
    return findings + run_check("database", lambda: check_database(app))


def _describe_settings(app: App) -> str:
    told = [name for name, origin in app.settings.origins.items() if origin != "default"]
    return f"sound; not at their defaults: {', '.join(told)}" if told else "sound; all at their defaults"


def _print_findings(findings: list[Finding]) -> None:
    color = False if "NO_COLOR" in read_environment() else None
    for finding in findings:
        mark = click.style(f"{finding.state:<4}", fg=_COLOURS[finding.state], bold=finding.state != "ok")
        click.echo(f"{mark}  {finding.name:<11}  {finding.says}", color=color)
        if finding.do:
            click.echo(f"{'':<19}→ {finding.do}", color=color)
    counts = {state: sum(finding.state == state for finding in findings) for state in _COLOURS}
    click.echo(f"\n{counts['ok']} fine, {counts['warn']} to look at, {counts['fail']} wrong.")
