"""`keys`: the credentials of HTTP callers."""

import re
from collections.abc import Sequence

import click

from tokonoma.app import App
from tokonoma.auth import api_keys as stored
from tokonoma.cli import show
from tokonoma.cli.flags import group
from tokonoma.cli.session import open_app
from tokonoma.core import clock
from tokonoma.core.call import OWNER
from tokonoma.core.errors import Invalid, Missing
from tokonoma.core.reach import parse_mask
from tokonoma.core.suggestions import find_nearest

_UNIT_MS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_HEADINGS = ("NAME", "ID", "STATE", "ROOT", "DEFAULT", "MODULES", "MASK", "EXPIRES")
_NAME = re.compile(r"[\w.@-][\w.@ -]{0,63}")


@group("keys")
def keys() -> None:
    """Make, list and revoke API keys for HTTP.

    stdio is the owner and needs none. As soon as one key exists, every HTTP caller has to show one.
    """


@keys.command("create", settings=("database_url",))
@click.argument("name")
@click.option("--root", default="/", show_default=True, help="Namespace that this key can never leave.")
@click.option("--default", "start", help="Namespace where it starts. By default: its root.")
@click.option("--modules", help="Modules that it may use, separated by commas. By default: all.")
@click.option(
    "--mask", help="What it must not see, separated by commas: `module`, `module.tool`, `module:write`, `*:destroy`."
)
@click.option("--expires", help="When it ends: 90d, 12h, 30m, 4w, or a date like 2027-01-31. By default: never.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def create(
    ctx: click.Context,
    name: str,
    root: str,
    start: str | None,
    modules: str | None,
    mask: str | None,
    expires: str | None,
    as_json: bool,
) -> None:
    """Make a key called NAME and print it: the only time that anybody sees it."""
    if not _NAME.fullmatch(name):
        raise click.BadParameter("Use letters, digits, `.`, `@`, `-`, `_` and spaces; at most 64.", param_hint="NAME")
    ends = None if expires is None else parse_expiry(expires)
    with open_app(ctx) as app:
        allowed = None if modules is None else _require_modules(app, _split_names(modules))
        reach = stored.build_reach(root, start, allowed, _normalize_mask(app, _split_names(mask or "")))
        with app.write_as_owner("keys.create") as statements:
            first = not stored.keys_exist(statements)
            key = stored.create_key(statements, name, reach, ends)
    until = "never" if ends is None else clock.format_time(ends)
    if as_json:
        show.print_json({"name": name, "key": key, "expires_at": None if ends is None else until})
    else:
        click.echo(key)
    show.print_note(f"Keep it now: only its hash is stored. Send it as `Authorization: Bearer …`. It expires: {until}.")
    if first:
        show.print_note("This is the first key: from now on every HTTP caller has to show one. stdio is not affected.")


@keys.command("list", settings=("database_url",))
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def list_keys(ctx: click.Context, as_json: bool) -> None:
    """List the keys, newest first. None of them can be shown again."""
    with open_app(ctx) as app, app.database.reading() as rows:
        found = [each.to_response() for each in stored.list_keys(rows)]
    if as_json:
        show.print_json(found)
        return
    if not found:
        show.print_note("There are no keys. Make one with `tokonoma keys create NAME`.")
        return
    show.print_table(_HEADINGS, [_key_row(each) for each in found])


@keys.command("set", settings=("database_url",))
@click.argument("name")
@click.option("--root", help="Namespace that this key can never leave.")
@click.option("--default", "start", help="Namespace where it starts.")
@click.option("--modules", help="Modules that it may use, separated by commas; `all` for every one.")
@click.option("--mask", help="Tools or modules that it must not see, separated by commas; empty for none.")
@click.option("--expires", help="When it ends: 90d, 12h, 30m, 4w, a date like 2027-01-31, or `never`.")
@click.pass_context
def set_reach(
    ctx: click.Context,
    name: str,
    root: str | None,
    start: str | None,
    modules: str | None,
    mask: str | None,
    expires: str | None,
) -> None:
    """Change what the key with this NAME or id may use. Options that are left out stay as they are.

    The key itself stays the same, so no client has to be set up again.
    """
    with open_app(ctx) as app, app.write_as_owner("keys.set") as statements:
        key = stored.find_key(statements, name)
        old = key.reach
        new_root = old.root if root is None else root
        new_start = start or (old.default if root is None else None)
        allowed = None if old.modules is None else sorted(old.modules)
        if modules is not None:
            allowed = None if modules.strip() == "all" else _require_modules(app, _split_names(modules))
        rules = sorted(old.mask) if mask is None else _normalize_mask(app, _split_names(mask))
        ends = key.expires_at if expires is None else None if expires == "never" else parse_expiry(expires)
        reach = stored.build_reach(new_root, new_start, allowed, rules, sorted(old.extras))
        changed = stored.update_key(statements, name, reach, ends)
    show.print_table(_HEADINGS, [_key_row(changed.to_response())])


@keys.command("revoke", settings=("database_url",))
@click.argument("name")
@click.pass_context
def revoke(ctx: click.Context, name: str) -> None:
    """Revoke the key with this NAME or id: it is refused from the next request on."""
    with open_app(ctx) as app, app.write_as_owner("keys.revoke") as statements:
        stored.revoke_key(statements, name)
    show.print_note(f"Revoked {name!r}.")


def parse_expiry(text: str) -> int:
    """`90d`, `12h`, a date or a time, as milliseconds since the epoch; it must lie ahead."""
    length = re.fullmatch(r"(\d{1,6})([mhdw])", text)
    try:
        found = clock.now() + int(length[1]) * _UNIT_MS[length[2]] if length else clock.parse_time(text)
    except (ValueError, OverflowError):
        told = "Write a length like 90d, 12h, 30m or 4w, or a date like 2027-01-31."
        raise click.BadParameter(told, param_hint="--expires") from None
    if found <= clock.now():
        raise click.BadParameter(f"{clock.format_time(found)} has already passed.", param_hint="--expires")
    return found


def _split_names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _require_modules(app: App, names: Sequence[str]) -> list[str]:
    known = [shelf.name for shelf in app.registry.visible_modules(OWNER)]
    for name in names:
        if name not in known:
            meant = find_nearest(name, known)
            hint = f"Did you mean {meant[0]!r}?" if meant else f"There are: {', '.join(known)}."
            raise Missing(f"There is no module called {name!r}. {hint}", reason="module")
    if not names:
        raise Invalid("--modules names no module. Leave it out to allow all.", field="modules")
    return list(names)


def _normalize_mask(app: App, rules: Sequence[str]) -> list[str]:
    """Masks as they are stored: a spelling that would hide nothing must not pass."""
    masked: list[str] = []
    for text in rules:
        rule = parse_mask(text)
        if rule.module != "*":
            _require_modules(app, [rule.module])
        if rule.tool is not None:
            name = app.registry.find_tool(rule.module, rule.tool, OWNER).name
            text = text.removesuffix(rule.tool) + name
        masked.append(text)
    return masked


def _key_row(key: dict[str, object]) -> tuple[str, ...]:
    names = ("name", "id", "state", "root", "default", "modules", "mask", "expires_at")
    return tuple(_format_cell(key[name]) for name in names)


def _format_cell(told: object) -> str:
    if isinstance(told, list):
        return ",".join(map(str, told)) or "-"  # pyright: ignore[reportUnknownArgumentType]
    return "never" if told is None else str(told)
