"""`demo`: a short conversation, played against a home that is removed afterwards. Every call is a real one."""

import shutil
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import click
import orjson

from tokonoma.app import App, read_environment
from tokonoma.cli.call import call_tool, send_request
from tokonoma.cli.command import command, get_flags
from tokonoma.cli.demo_talk import TALKS, DemoStep, DemoTalk
from tokonoma.cli.output import print_line
from tokonoma.cli.welcome import name_program
from tokonoma.config.settings import choose_language
from tokonoma.core.errors import Unavailable
from tokonoma.core.log import set_level
from tokonoma.core.printable import measure_width, shorten

_WIDTH = 100  # columns of one line


@command("demo", "language")
@click.option("--keep", is_flag=True, help="Keep the folder with its data, and say where it is.")
@click.pass_context
def demo(ctx: click.Context, keep: bool) -> None:
    """Play a short conversation with memory: save, find again in the other language, correct, find everywhere.

    The calls are real, and go to a new folder that is removed at the end. Your own data is not touched.
    """
    with open_throwaway(ctx, keep=keep) as app:
        talk = TALKS[choose_language(app.settings, read_environment())]
        play(app, talk)
        print_line(f"\n{talk.end.format(calls=sum(1 for step in talk.steps if step.tool))}")
        home = app.home
    if keep:
        # Closed: the program can be used on it.
        print_line(talk.kept.format(folder=home, program=name_program()))
    else:
        print_line(talk.removed.format(program=name_program()))


@contextmanager
def open_throwaway(ctx: click.Context, *, keep: bool) -> Generator[App]:
    """An app on a new folder, without any setting of this machine but the language."""
    home = Path(mkdtemp(prefix="tokonoma-demo-"))
    environ = {name: value for name, value in read_environment().items() if not name.startswith("TOKONOMA_")}
    language = get_flags(ctx).get("language") or read_environment().get("TOKONOMA_LANGUAGE")
    try:
        app = App({"home": str(home), **({"language": language} if language else {})}, environ)
        set_level("warning")
        try:
            yield app
        finally:
            app.close()
    finally:
        if not keep:
            shutil.rmtree(home)


def play(app: App, talk: DemoTalk) -> None:
    answers: dict[str, Any] = {}
    for step in talk.steps:
        if step.scene:
            print_line(f"\n{step.scene}\n")
        if step.says:
            _print_turn(talk.you, step.says)
        if step.tool:
            _print_turn(talk.agent, f"{step.tool} {_show_params(step.params)}")
            answers[step.name] = answer = run_step(app, step, answers)
            for line in describe_answer(talk, answer):
                _print_turn("", f"→ {line}")


def run_step(app: App, step: DemoStep, answers: Mapping[str, Any]) -> Any:
    """Call the tool. A parameter `$name` is the id of what that earlier step saved."""
    params = {
        name: answers[value[1:]]["memo_id"] if isinstance(value, str) and value.startswith("$") else value
        for name, value in step.params.items()
    }
    module, _, tool = step.tool.rpartition(".")
    if module:
        return call_tool(app, module, tool, **params)
    result = send_request(app, tool, params)
    if result.is_error:
        raise Unavailable(f"The demo has failed: {result.text}", reason="demo")
    return orjson.loads(result.text)


def describe_answer(talk: DemoTalk, answer: Mapping[str, Any]) -> list[str]:
    """What a person wants to see of it."""
    if "memo_id" in answer:
        return [talk.saved.format(place=answer["namespace"])]
    if "address" in answer:
        return [talk.created.format(address=answer["address"])]
    hits: list[Mapping[str, Any]] = answer.get("results") or answer.get("items") or []
    return [_describe_hit(talk, hit) for hit in hits] or [talk.nothing]


def _describe_hit(talk: DemoTalk, hit: Mapping[str, Any]) -> str:
    text = str(hit.get("content") or hit.get("text") or hit.get("snippet") or hit.get("title"))
    older = f" {talk.replaced}" if hit.get("superseded_by") or hit.get("superseded") else ""
    return f"{text}{older}"


def _show_params(params: Mapping[str, Any]) -> str:
    return orjson.dumps({name: value for name, value in params.items() if name != "k"}).decode() if params else ""


def _print_turn(who: str, text: str) -> None:
    start = who + " " * (10 - measure_width(who))
    print_line(f"  {start}{shorten(text, _WIDTH - 12)}")
