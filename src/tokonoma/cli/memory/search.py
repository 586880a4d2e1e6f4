"""`memory search`: hits with their passages, their words in colour, and why they were found."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from tokonoma.app import App
from tokonoma.cli.call import call_tool
from tokonoma.cli.command import command, json_option, pass_app
from tokonoma.cli.memory.lookup import MODULE_NAME
from tokonoma.cli.memory.text import cut_snippet, highlight
from tokonoma.cli.output import print_json, print_note, print_parts
from tokonoma.core.printable import pluralize, shorten

_SNIPPET = 220  # characters
_TITLE_WIDTH = 70  # columns


_MODES = {"hybrid": "words and meaning", "text": "words only", "vector": "meaning only", "metadata": "metadata only"}


@command("search", "database_url")
@click.argument("query")
@click.option("--namespace", help="Only this one and those below it.")
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "text", "vector"]),
    default="hybrid",
    show_default=True,
    help="By words (text), by meaning (vector), or by both.",
)
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="Number of memos.")
@click.option("--explain", is_flag=True, help="Show the parts of each score.")
@json_option
@pass_app
def search_memos(
    app: App, query: str, namespace: str | None, mode: str, limit: int, explain: bool, as_json: bool
) -> None:
    """Search the memos, best first: the score, where each is, and the passage that fits QUERY best."""
    params = {"query": query, "namespace": namespace, "mode": mode, "k": limit, "explain": explain}
    found = call_tool(app, MODULE_NAME, "search", **params)
    if as_json:
        print_json(found)
        return
    for hit in found["items"]:
        _print_hit(hit, query, namespace)
    print_note(f"{pluralize(len(found['items']), 'memo')}, searched by {_MODES[found['mode']]}.")
    if found.get("not_yet_embedded"):
        print_note(
            f"{pluralize(found['not_yet_embedded'], 'memo')} can be found by words only, until their vectors exist."
        )


def _print_hit(hit: Mapping[str, Any], query: str, namespace: str | None) -> None:
    place = f"  {hit['memo_id']}  {hit.get('namespace', namespace or '/')}"
    title = highlight(shorten(hit.get("title", ""), _TITLE_WIDTH), query)
    print_parts([(f"{hit['score']:.2f}", "green"), (place, ""), *([("  ", "")] if title else []), *title])
    print_parts([("      ", ""), *cut_snippet(hit["content"], query, _SNIPPET)])
    for line in format_score(hit.get("score_details", {})):
        print_parts([(f"        {line}", "")])


def format_score(parts: Mapping[str, Any], name: str = "") -> Iterator[str]:
    """The parts of a score, a line for each group of them."""
    plain = {key: value for key, value in parts.items() if not isinstance(value, dict)}
    values = (f"{value:.3f}" if isinstance(value, float) else str(value) for value in plain.values())
    if plain:
        yield f"{name}: ".removeprefix(": ") + ", ".join(map(" ".join, zip(plain, values, strict=True)))
    for key in [each for each in parts if each not in plain]:
        yield from format_score(parts[key], f"{name}.{key}".removeprefix("."))
