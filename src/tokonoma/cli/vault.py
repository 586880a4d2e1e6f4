"""`vault`: its files at the terminal; every command is a call like any other."""

from pathlib import Path
from typing import Any

import click

from tokonoma.cli import show
from tokonoma.cli.call import call_tool
from tokonoma.cli.coverage_picture import CoverageKind, LineSpan, draw_coverage
from tokonoma.cli.flags import group
from tokonoma.cli.owner_tools import call_owner_tool
from tokonoma.cli.session import open_app


@group("vault")
def vault() -> None:
    """List, read, search and audit the vault's files; see what was read of them."""


@vault.command("ls")
@click.argument("folder", required=False)
@click.option("--glob", help="Like '*.md' or 'notes/**'.")
@click.pass_context
def ls(ctx: click.Context, folder: str | None, glob: str | None) -> None:
    """List the files, with their lines and when they were changed."""
    with open_app(ctx) as app:
        page = call_tool(app, "vault", "ls", relative_dir=folder, glob=glob)  # it shows how far new files are indexed
        found = page["items"]
        while "next_cursor" in page:
            wanted = {"relative_dir": folder, "glob": glob, "cursor": page["next_cursor"]}
            page = call_owner_tool(app, "vault", "files", wanted)
            found += page["items"]
    rows = [(each["path"], str(each.get("lines", "-")), str(each["size"]), each["changed_at"]) for each in found]
    show.print_table(("FILE", "LINES", "BYTES", "CHANGED"), rows)


@vault.command("read")
@click.argument("place", metavar="FILE[:FIRST[-LAST]]")
@click.pass_context
def read(ctx: click.Context, place: str) -> None:
    """Print lines of a file, up to 20 000 characters."""
    path, lines = _parse_place(place)
    told: dict[str, Any] = {"full": True} if lines is None else {"range": _to_range(*lines)}
    with open_app(ctx) as app:
        part = call_tool(app, "vault", "read", path=path, limits={"max_chars": 20_000}, **told)
    click.echo(part["text"], nl=not part["text"].endswith("\n"))
    if "next_range" in part:
        show.print_note(f"… go on with {path}:{part['next_range']['start_line']}-{part['next_range']['end_line']}")


@vault.command("find")
@click.argument("query")
@click.option("--glob", help="Only files like '*.md'; '!artifacts/daily/**' leaves daily notes out.")
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True, help="Lines shown.")
@click.pass_context
def find(ctx: click.Context, query: str, glob: str | None, limit: int) -> None:
    """List the sections about QUERY, best first, and what was looked through."""
    with open_app(ctx) as app:
        found = call_tool(app, "vault", "find", query=query, scope={"glob": glob} if glob else None)
        page = call_tool(app, "vault", "hits", trace_id=found["trace_id"], limit=limit)
    rows = [
        (f"{each['ref']['path']}:{each['ref']['start_line']}", f"{each['score']:.2f}", each["title"])
        for each in page["items"]
    ]
    if rows:
        show.print_table(("WHERE", "SCORE", "TITLE"), rows)
    summary = found["summary"]
    left = f"; {summary['unscanned_sections_count']} not looked at" if summary["unscanned_sections_count"] else ""
    show.print_note(
        f"{page['total'] or 'None'} of {show.pluralize(summary['scanned_nodes'], 'section')}"
        f" in {show.pluralize(summary['scanned_files'], 'file')}{left}."
    )


@vault.command("search")
@click.argument("query")
@click.option("--mode", type=click.Choice(["plain", "loose", "regex"]), default="plain", show_default=True)
@click.option("--glob", help="Only files like '*.md'.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True, help="Lines shown.")
@click.pass_context
def search(ctx: click.Context, query: str, mode: str, glob: str | None, limit: int) -> None:
    """Print lines that hold QUERY, as FILE:LINE:TEXT."""
    with open_app(ctx) as app:
        page = call_tool(app, "vault", "search", query=query, mode=mode, glob=glob, limit=limit)
    for each in page["items"]:
        click.echo(f"{each['path']}:{each['line']}:{each['text']}")
    if not page["items"]:
        show.print_note(f"No line of {show.pluralize(page['searched_files'], 'file')} holds it.")
    if page["has_more"]:
        show.print_note("… and more; --limit shows up to 200")


@vault.command("history")
@click.argument("path", metavar="FILE")
@click.pass_context
def history(ctx: click.Context, path: str) -> None:
    """List what was done to a file, newest first, with the versions that can be restored."""
    with open_app(ctx) as app:
        items = call_tool(app, "vault", "history", path=path, limit=200)["items"]
    rows = [
        (each["at"], each["action"], each["by"], str(each["bytes"]), each.get("previous_version", "")[:16])
        for each in items
    ]
    show.print_table(("AT", "ACTION", "BY", "BYTES", "BEFORE IT"), rows)


@vault.command("restore")
@click.argument("path", metavar="FILE")
@click.argument("version")
@click.pass_context
def restore(ctx: click.Context, path: str, version: str) -> None:
    """Put an earlier version in place again; what is there now is kept."""
    with open_app(ctx) as app:
        done = call_tool(app, "vault", "restore", path=path, version=version)
    click.echo(f"{done['path']} is at {done['version'][:16]} again ({done['bytes']} bytes).")


@vault.command("coverage")
@click.argument("path", metavar="FILE")
@click.option("--picture", "target", metavar="OUT.svg", help="Draw the file as a strip: cited, read, never seen.")
@click.option("--json", "as_json", is_flag=True, help="The ranges, as JSON.")
@click.pass_context
def coverage(ctx: click.Context, path: str, target: str | None, as_json: bool) -> None:
    """Say how much of a file was read and cited, and which lines nobody has seen."""
    with open_app(ctx) as app:
        told = call_owner_tool(app, "vault", "lines", {"path": path})
    if target is not None:
        seen: dict[CoverageKind, list[LineSpan]] = {
            "cited": _to_pairs(told["cited"]),
            "read": _to_pairs(told["read"]),
            "never seen": _to_pairs(told["never_seen"]),
        }
        drawn = draw_coverage(told["path"], told["total_lines"], seen)
        Path(target).write_text(drawn, encoding="utf-8")
        show.print_note(f"{target} shows {told['path']}.")
    if as_json:
        show.print_json(told)
        return
    unseen = told["never_seen"]
    shown = ", ".join(f"{each['start_line']}-{each['end_line']}" for each in unseen[:10]) or "none"
    more = f" and {len(unseen) - 10} more" if len(unseen) > 10 else ""
    click.echo(f"{told['path']}: {told['total_lines']} lines")
    click.echo(f"  read        {told['read_ratio']:.0%}")
    click.echo(f"  cited       {told['cited_ratio']:.0%}")
    click.echo(f"  never seen  {shown}{more}")


@vault.command("audit")
@click.argument("artifact")
@click.argument("source")
@click.pass_context
def audit(ctx: click.Context, artifact: str, source: str) -> None:
    """Check ARTIFACT against SOURCE: elements without lines, without a way to them, references not answered."""
    with open_app(ctx) as app:
        told = call_tool(app, "vault", "audit", artifact_path=artifact, source_path=source)
    rows = [(kind, each["id"], each["title"]) for kind in ("rootless", "orphan") for each in told[kind]]
    rows += [("one_way", each["from_id"], each["to_id"]) for each in told["one_way"]]
    show.print_table(("FINDING", "ELEMENT", "TITLE OR GOAL"), rows)
    show.print_note(
        f"{told['elements']} elements, {told['evidence_ratio']:.0%} with lines of their source; "
        f"{told['coverage_ratio']:.0%} of the source is cited."
    )
    ctx.exit(1 if told["needs_forced_full_scan"] else 0)


def _parse_place(place: str) -> tuple[str, tuple[int, int] | None]:
    """`notes/a.md:3-9` → path, first and last line."""
    path, colon, lines = place.rpartition(":")
    first, dash, last = lines.partition("-")
    if not colon or not first.isdigit() or (dash and not last.isdigit()):
        return place, None
    return path, (int(first), int(last) if dash else int(first))


def _to_range(start: int, end: int) -> dict[str, int]:
    return {"start_line": start, "end_line": end}


def _to_pairs(ranges: list[dict[str, int]]) -> list[tuple[int, int]]:
    return [(each["start_line"], each["end_line"]) for each in ranges]
