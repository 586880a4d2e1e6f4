"""`vault`: its files at the terminal. Every command calls tools of the vault, as other callers do."""

import sys
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Literal

import click

from tokonoma.app import App
from tokonoma.cli.call import call_owner_tool, call_tool
from tokonoma.cli.command import group, pass_app
from tokonoma.cli.output import print_json, print_line, print_note, print_table, print_text
from tokonoma.core.printable import pluralize

CoverageKind = Literal["cited", "cited unread", "read", "never seen"]
LineSpan = tuple[int, int]

_WIDTH, _LEFT, _TOP = 420, 60, 44  # of the picture, in points
_MAX_NAME = 44  # characters
_LINE_HEIGHT = 4  # of a file that is short enough
_MAX_HEIGHT = 1200
_BACKGROUND = "#fffdf8"
_FONT = 'font-family="sans-serif" font-size="11"'
_COLOURS: dict[CoverageKind, str] = {
    "cited": "#2f6f4f",
    "cited unread": "#a6483c",
    "read": "#c9b458",
    "never seen": "#c8c4bc",
}


@group("vault")
def vault() -> None:
    """List, read, search and audit the files of the vault, and show how much of them was read."""


@vault.command("ls")
@click.argument("folder", required=False)
@click.option("--glob", help="Only files that match, such as '*.md' or 'notes/**'.")
@pass_app
def ls(app: App, folder: str | None, glob: str | None) -> None:
    """List the files with their number of lines and time of change."""
    page = call_tool(app, "vault", "ls", relative_dir=folder, glob=glob)  # also shows how far new files are indexed
    found = page["items"]
    while "next_cursor" in page:
        wanted = {"relative_dir": folder, "glob": glob, "cursor": page["next_cursor"]}
        page = call_owner_tool(app, "vault", "files", wanted)
        found += page["items"]
    rows = [(each["path"], str(each.get("lines", "-")), str(each["size"]), each["changed_at"]) for each in found]
    print_table(("FILE", "LINES", "BYTES", "CHANGED"), rows)


@vault.command("read")
@click.argument("place", metavar="FILE[:FIRST[-LAST]]")
@pass_app
def read(app: App, place: str) -> None:
    """Print lines of a file, up to 20 000 characters."""
    path, extent = _parse_place(place)
    part = call_tool(app, "vault", "read", path=path, limits={"max_chars": 20_000}, **extent)
    print_text(part["text"])
    if "next_range" in part:
        print_note(f"… continue with {path}:{part['next_range']['start_line']}-{part['next_range']['end_line']}")


@vault.command("find")
@click.argument("query")
@click.option("--glob", help="Only files that match, such as '*.md'; '!artifacts/daily/**' excludes daily notes.")
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True, help="Number of lines.")
@pass_app
def find(app: App, query: str, glob: str | None, limit: int) -> None:
    """List the sections about QUERY, best first, and how much was searched."""
    found = call_tool(app, "vault", "find", query=query, scope={"glob": glob} if glob else None)
    page = call_tool(app, "vault", "hits", trace_id=found["trace_id"], limit=limit)
    rows = [
        (f"{each['ref']['path']}:{each['ref']['start_line']}", f"{each['score']:.2f}", each["title"])
        for each in page["items"]
    ]
    if rows:
        print_table(("WHERE", "SCORE", "TITLE"), rows)
    summary = found["summary"]
    left = f"; {summary['unscanned_sections_count']} not searched" if summary["unscanned_sections_count"] else ""
    print_note(
        f"{page['total'] or 'None'} of {pluralize(summary['scanned_nodes'], 'section')}"
        f" in {pluralize(summary['scanned_files'], 'file')}{left}."
    )


@vault.command("search")
@click.argument("query")
@click.option("--mode", type=click.Choice(["plain", "loose", "regex"]), default="plain", show_default=True)
@click.option("--glob", help="Only files that match, such as '*.md'.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True, help="Number of lines.")
@pass_app
def search(app: App, query: str, mode: str, glob: str | None, limit: int) -> None:
    """Print the lines that contain QUERY, as FILE:LINE:TEXT."""
    page = call_tool(app, "vault", "search", query=query, mode=mode, glob=glob, limit=limit)
    for each in page["items"]:
        print_line(f"{each['path']}:{each['line']}:{each['text']}")
    if not page["items"]:
        print_note(f"No line of {pluralize(page['searched_files'], 'file')} contains it.")
    if page["has_more"]:
        print_note("… and more; --limit shows up to 200")


@vault.command("history")
@click.argument("path", metavar="FILE")
@pass_app
def history(app: App, path: str) -> None:
    """List the changes of a file, newest first, with the versions that can be restored."""
    rows = [
        (each["at"], each["action"], each["by"], str(each["bytes"]), each.get("previous_version", "")[:16])
        for each in call_tool(app, "vault", "history", path=path, limit=200)["items"]
    ]
    print_table(("AT", "ACTION", "BY", "BYTES", "BEFORE IT"), rows)


@vault.command("restore")
@click.argument("path", metavar="FILE")
@click.argument("version")
@pass_app
def restore(app: App, path: str, version: str) -> None:
    """Restore an earlier version; the present one is kept."""
    done = call_tool(app, "vault", "restore", path=path, version=version)
    print_line(f"{done['path']} is at {done['version'][:16]} again ({done['bytes']} bytes).")


@vault.command("coverage")
@click.argument("path", metavar="FILE")
@click.option("--picture", "target", metavar="OUT.svg", help="Draw which lines were cited, read or never seen.")
@click.option("--json", "as_json", is_flag=True, help="The ranges as JSON.")
@pass_app
def coverage(app: App, path: str, target: str | None, as_json: bool) -> None:
    """Show how much of a file was read and cited, and which lines were never read."""
    lines = call_owner_tool(app, "vault", "lines", {"path": path})
    if target is not None:
        spans: dict[CoverageKind, list[LineSpan]] = {
            kind: [(each["start_line"], each["end_line"]) for each in lines[kind.replace(" ", "_")]]
            for kind in _COLOURS
        }
        Path(target).write_text(draw_coverage(lines["path"], lines["total_lines"], spans), encoding="utf-8")
        print_note(f"{target} shows {lines['path']}.")
    if as_json:
        print_json(lines)
        return
    print_line(f"{lines['path']}: {lines['total_lines']} lines")
    print_line(f"  read          {lines['read_ratio']:.0%}")
    print_line(f"  cited         {lines['cited_ratio']:.0%}")
    if lines["cited_unread"]:
        print_line(f"  cited unread  {_format_ranges(lines['cited_unread'])}")
    print_line(f"  never seen    {_format_ranges(lines['never_seen'])}")


def _format_ranges(ranges: Sequence[Mapping[str, int]]) -> str:
    shown = ", ".join(f"{each['start_line']}-{each['end_line']}" for each in ranges[:10]) or "none"
    return f"{shown} and {len(ranges) - 10} more" if len(ranges) > 10 else shown


@vault.command("audit")
@click.argument("artifact")
@click.argument("source")
@pass_app
def audit(app: App, artifact: str, source: str) -> None:
    """Check ARTIFACT against SOURCE: whether the cited lines say what each element says, unreachable elements, one-way
    references."""
    report = call_tool(app, "vault", "audit", artifact_path=artifact, source_path=source)
    rows = [
        (f"{each['status']} {each['share']:.0%} {each.get('reason', '')}".strip(), each["id"], each["title"])
        for each in report["judged"]
    ]
    rows += [("orphan", each["id"], each["title"]) for each in report["orphan"]]
    rows += [("one_way", each["from_id"], each["to_id"]) for each in report["one_way"]]
    print_table(("FINDING", "ELEMENT", "TITLE OR GOAL"), rows)
    print_note(
        f"{report['elements']} elements, {report['evidence_ratio']:.0%} with source lines, "
        f"{report['supported_ratio']:.0%} supported by them; {report['coverage_ratio']:.0%} of the source is covered."
    )
    sys.exit(1 if report["needs_forced_full_scan"] else 0)


def _parse_place(place: str) -> tuple[str, dict[str, Any]]:
    """Return the path of `notes/a.md:3-9`, and the parameter that says which lines to read."""
    path, colon, lines = place.rpartition(":")
    first, dash, last = lines.partition("-")
    if not colon or not first.isdigit() or (dash and not last.isdigit()):
        return place, {"full": True}
    return path, {"range": {"start_line": int(first), "end_line": int(last if dash else first)}}


def draw_coverage(name: str, total: int, spans: Mapping[CoverageKind, Sequence[LineSpan]]) -> str:
    """Draw the lines of a file from top to bottom as SVG. A line that was both cited and read is shown as cited."""
    scale = min(float(_LINE_HEIGHT), _MAX_HEIGHT / total) if total else 1.0
    height = _TOP + max(24.0, total * scale) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height:.0f}" {_FONT}>',
        f"<title>{escape(name)}: lines read and cited</title>",
        f'<rect width="{_WIDTH}" height="{height:.0f}" fill="{_BACKGROUND}"/>',  # the page around it may be dark
        f'<text x="8" y="16">{escape(name if len(name) <= _MAX_NAME else "…" + name[1 - _MAX_NAME :])}</text>',
        *_draw_legend(total, spans),
        *(_draw_bar(kind, each, scale) for kind in reversed(_COLOURS) for each in spans.get(kind, ())),
        *_draw_line_numbers(total, scale),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _draw_legend(total: int, spans: Mapping[CoverageKind, Sequence[LineSpan]]) -> list[str]:
    parts: list[str] = []
    for place, (kind, colour) in enumerate(_COLOURS.items()):
        lines = sum(end - start + 1 for start, end in spans.get(kind, ()))
        share = f" {100 * lines / total:.0f}%" if total else ""
        left = 8 + place * 104
        parts.append(
            f'<rect x="{left}" y="24" width="10" height="10" fill="{colour}"/>'
            f'<text x="{left + 14}" y="33">{kind}{share}</text>'
        )
    return parts


def _draw_bar(kind: CoverageKind, lines: LineSpan, scale: float) -> str:
    start, end = lines
    top, height = _TOP + (start - 1) * scale, max(0.5, (end - start + 1) * scale)
    return (
        f'<rect class="{kind.replace(" ", "-")}" x="{_LEFT}" y="{top:.2f}" width="{_WIDTH - _LEFT - 12}"'
        f' height="{height:.2f}" fill="{_COLOURS[kind]}"><title>{kind}: {start}-{end}</title></rect>'
    )


def _draw_line_numbers(total: int, scale: float) -> list[str]:
    step = max(1, total // 10)
    shown = sorted({1, *range(step, total + 1, step), total}) if total else []
    return [
        f'<text x="{_LEFT - 6}" y="{_TOP + (line - 1) * scale + 9:.2f}" text-anchor="end">{line}</text>'
        for place, line in enumerate(shown)
        if place == 0 or (line - shown[place - 1]) * scale >= 10 or line == shown[0]
    ]
