"""What a person sees before approving a server's tools: what is new, what has changed, and what looks odd."""

from collections.abc import Mapping

from tokonoma.cli.output import print_line
from tokonoma.upstream.pins import PinnedTool, describe_change, find_effect
from tokonoma.upstream.servers import UpstreamServer
from tokonoma.upstream.texts import clean_text, find_warnings

_MAX_WORDS = 300


def print_review(server: UpstreamServer, rejected: Mapping[str, str]) -> None:
    print_line(f"{server.name}: {len(server.tools)} tools. Their descriptions are the server's own words.")
    for tool in server.tools:
        for line in _describe(tool):
            print_line(line)
    for name, why in rejected.items():
        print_line(f"  left out  {clean_text(name, 80)}: {why}")


def _describe(tool: PinnedTool) -> list[str]:
    shown = tool.seen or tool.approved
    effect = tool.effect or find_effect(shown)
    words = clean_text(shown.get("description"), _MAX_WORDS) or "-"
    lines = [f"  {tool.state:<8}  {tool.short} ({effect}): {words}"]
    lines += [f"            ! {warning}" for warning in find_warnings(shown.get("description"))]
    if tool.state == "changed":
        lines += [f"            {line}" for line in describe_change(tool)]
    return lines
