"""`doctor`: looks at everything and says what to do. It changes nothing, and makes no database where there is none."""

from dataclasses import asdict

import click

from tokonoma.app import App, environment
from tokonoma.cli import show
from tokonoma.cli.backups import sqlite_file
from tokonoma.cli.doctor import around, machine, meaning
from tokonoma.cli.doctor.finding import Finding, found
from tokonoma.cli.doctor.stored import stored
from tokonoma.cli.flags import command, flags_of
from tokonoma.config.home import home_of
from tokonoma.core.errors import Refusal
from tokonoma.core.log import set_level

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


@command("doctor", "database_url", "host", "port")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Check everything and say what to do. The exit code is 1 if anything fails; a warning does not count."""
    findings = examine(ctx)
    failed = any(finding.state == "fail" for finding in findings)
    if as_json:
        show.value({"ok": not failed, "findings": [asdict(finding) for finding in findings]})
    else:
        _print(findings)
    ctx.exit(1 if failed else 0)


def examine(ctx: click.Context) -> list[Finding]:
    flags = flags_of(ctx)
    findings = found("python", machine.python) + found("sqlite", machine.sqlite)
    try:
        app = App(flags)
        file = sqlite_file(app)
    except Refusal as error:
        place = home_of(flags.get("home"), environment()) / "tokonoma.toml"
        remedy = f"Mend it in {place}, in the environment or in the command; then look again."
        return [*findings, Finding("settings", "fail", error.message, remedy)]
    set_level("error")  # what the log would say is said here
    findings.append(Finding("settings", "ok", _settings(app)))
    findings += found("home", lambda: machine.home(app.home, file))
    folder = app.home if file is None else file.parent
    findings += found("file system", lambda: machine.disk(folder, sqlite_there=file is not None))
    findings += found("plugins", lambda: around.plugins(app.home))
    findings += found("port", lambda: around.port(app.settings.text("host"), app.settings.number("port")))
    findings += found("embedding", lambda: meaning.embedding(app.settings))
    findings += found("readings", meaning.readings)
    return findings + found("database", lambda: stored(app))


def _settings(app: App) -> str:
    told = [name for name, origin in app.settings.origins.items() if origin != "default"]
    return f"sound; not at their defaults: {', '.join(told)}" if told else "sound; all at their defaults"


def _print(findings: list[Finding]) -> None:
    color = False if "NO_COLOR" in environment() else None
    for finding in findings:
        mark = click.style(f"{finding.state:<4}", fg=_COLOURS[finding.state], bold=finding.state != "ok")
        click.echo(f"{mark}  {finding.name:<11}  {finding.says}", color=color)
        if finding.do:
            click.echo(f"{'':<19}→ {finding.do}", color=color)
    counts = {state: sum(finding.state == state for finding in findings) for state in _COLOURS}
    click.echo(f"\n{counts['ok']} fine, {counts['warn']} to look at, {counts['fail']} wrong.")
