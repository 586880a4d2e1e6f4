"""Plays a scenario against the program, and tells what a client saw, one line a step."""

import json
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

from golden.calls_files import FILES
from golden.clients import HttpClient, StdioClient, environ, run
from golden.normalise import Normaliser, read, write
from golden.scenarios import Scenario
from golden.steps import CommandStep, EndStep, Json, KeyStep, LineStep, MethodStep, SocketStep, Step, ToolStep, WebStep

_KEPT = re.compile(r"<<(\w+)>>")
_PAUSE, _ATTEMPTS = 0.05, 1_200  # a minute for what the server does in the background


def play(scenario: Scenario, folder: Path, database: str) -> list[str]:
    home = folder / "home"
    for path, text in FILES.items():
        file = home / "workspace" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
    env = environ(home, database, **scenario.env)
    normaliser = Normaliser({database: "<database>", str(home): "<home>", str(folder): "<folder>"})
    client = {"stdio": StdioClient, "http": HttpClient, "cli": None}[scenario.client]
    player = Player(client and client(scenario.words, env), normaliser, env)
    try:
        return list(player.lines(scenario.steps))
    finally:
        player.close()


class Player:
    def __init__(self, client: StdioClient | HttpClient | None, normaliser: Normaliser, env: Mapping[str, str]) -> None:
        self._client = client
        self._normaliser = normaliser
        self._env = env
        self._kept: dict[str, Any] = {}

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def lines(self, steps: Iterable[Step]) -> Iterable[str]:
        for number, step in enumerate(steps, 1):
            answer = self._played(replace(step, **self._filled(_fields(step))), number)
            yield write({"step": step.name, "asked": _asked(step), "answer": answer})

    def _played(self, step: Step, number: int) -> Any:
        client, normal = self._client, self._normaliser
        match step:
            case ToolStep():
                return self._tool(step, number)
            case MethodStep():
                assert client is not None
                told, answer = client.ask(number, step.method, step.params)
                return self._told(told, answer)
            case LineStep():
                assert isinstance(client, StdioClient)
                return [normal.message(each) for each in client.line(step.line, step.answers)]
            case WebStep():
                return self._web(step)
            case SocketStep():
                assert isinstance(client, HttpClient)
                return normal.text(client.exchange(step)).split("\n")
            case CommandStep():
                ended = run(step.words, self._env, step.stdin)
                if step.keep:
                    self._keep(step.keep, read(ended["stdout"]))
                shown = {name: normal.message(ended[name].rstrip("\n")) for name in ("stdout", "stderr")}
                return {"exit": ended["exit"], **{name: _split(value) for name, value in shown.items()}}
            case KeyStep():
                assert isinstance(client, HttpClient)
                client.key = step.key
                return None
            case EndStep():
                self.close()
                return None

    def _tool(self, step: ToolStep, number: int) -> Any:
        assert self._client is not None
        params = {"name": step.tool, "arguments": step.arguments, **step.more}
        if step.until:
            self._await(step, params)
        told, answer = self._client.ask(number, "tools/call", params)
        value = read(answer).get("result", {}).get("structuredContent", {}) if step.keep else {}
        self._keep(step.keep, value)
        return self._told(told, answer)

    def _await(self, step: ToolStep, params: Json) -> None:
        assert self._client is not None
        for attempt in range(_ATTEMPTS):
            # An id of its own: one is free again only a moment after its call was answered.
            _, answer = self._client.ask(1_000_000 + attempt, "tools/call", params)
            if not _at(read(answer), f"result.structuredContent.{step.until}", None):
                return
            time.sleep(_PAUSE)
        raise AssertionError(f"{step.name}: it never came to an end")

    def _told(self, told: list[Any], answer: str) -> Any:
        if isinstance(self._client, HttpClient):
            return {**self._normaliser.value(told[0]), "body": self._body(told[0]["headers"], answer)}
        lines = [self._normaliser.message(each) for each in told]
        return lines[0] if len(lines) == 1 else lines

    def _web(self, step: WebStep) -> Any:
        assert isinstance(self._client, HttpClient)
        for _ in range(_ATTEMPTS):
            status, headers, text = self._client.send(step)
            if step.until in (0, status):
                break
            time.sleep(_PAUSE)
        else:
            raise AssertionError(f"{step.name}: its status never became {step.until}")
        told = self._normaliser.value({"status": status, "headers": headers})
        if step.names_only:
            return {**told, "body": sorted(each[7:] for each in text.splitlines() if each.startswith("# TYPE "))}
        return {**told, "body": self._body(headers, text)}

    def _body(self, headers: Mapping[str, str], text: str) -> Any:
        if headers.get("content-type") != "text/event-stream":
            return _split(self._normaliser.message(text))
        lines = text.split("\n")
        return [self._normaliser.message(each[6:]) if each.startswith("data: ") else each for each in lines]

    def _keep(self, keep: Mapping[str, str], value: Any) -> None:
        for name, path in keep.items():
            found = _at(value, path, None)
            assert found is not None, f"there is no {path} in {json.dumps(value)[:500]}"
            self._kept[name] = found

    def _filled(self, value: Any) -> Any:
        """With the values that earlier steps kept; one that stands alone keeps its type."""
        if isinstance(value, dict):
            return {name: self._filled(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self._filled(each) for each in value)
        if not isinstance(value, str):
            return value
        if alone := _KEPT.fullmatch(value):
            return self._kept[alone[1]]
        return _KEPT.sub(lambda match: str(self._kept[match[1]]), value)


def _fields(step: Step) -> Json:
    return {each.name: getattr(step, each.name) for each in fields(step)}


def _asked(step: Step) -> Json:
    """What was asked for, without its name and what is as usual."""
    usual = {each.name: each.default_factory() for each in fields(step) if each.default_factory is not MISSING}
    usual |= {each.name: each.default for each in fields(step) if each.default is not MISSING}
    told = {name: value for name, value in _fields(step).items() if name not in usual or value != usual[name]}
    return {name: value for name, value in told.items() if name != "name"}


def _at(value: Any, path: str, default: Any) -> Any:
    """`items[0].id` in a JSON value."""
    for part in re.findall(r"[^.\[\]]+", path):
        try:
            value = value[int(part)] if isinstance(value, list) else value[part]
        except (KeyError, IndexError, TypeError):
            return default
    return value


def _split(value: Any) -> Any:
    """A text of several lines as a list: a difference in one is then seen as one."""
    return value.split("\n") if isinstance(value, str) and "\n" in value else value
