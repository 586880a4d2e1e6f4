"""Mermaid charts as graphs: sequence, state, class and ER diagrams. Of other kinds, each line is an element. Pure."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from tokonoma.files.front_matter import find_front_matter_end
from tokonoma.modules.vault.artifacts import Artifact, Chart, build_element
from tokonoma.modules.vault.flowcharts import ChartStatement, clean_label, iter_statements, parse_flowchart

_MAX_STATEMENT = 1000  # characters; a longer one is taken as it is
_FIRST_WORD = re.compile(r"[A-Za-z][\w-]*+")
_NAME = r"[^\s:,;<>{}()\[\]|*\"+-][^\s:,;<>{}()\[\]|*\"]*?"
_QUOTED_NAME = rf"(?:\"[^\"]+\"|{_NAME})"

_PARTICIPANT = re.compile(r"\s*(?:create\s+)?(?:participant|actor)\s+(\S+)(?:\s+as\s+(.+))?$")
_MESSAGE = re.compile(r"\s*(\S+?)\s*(?:<<)?(-{1,2})(>>|>|x|\))\s*[+-]?\s*([^\s:]+)\s*(?::(.*))?$")
_NOTE = re.compile(r"\s*note\s+(?:left of|right of|over|for)?\s*([^:\"]*?)\s*(?::(.*)|\"(.*)\")?$", re.IGNORECASE)
_BLOCK = re.compile(r"\s*(?:loop|alt|else|opt|par|and|critical|option|break|box|title)\b[:\s]*(.*)$")
_IDLE = re.compile(
    r"\s*(?:end|autonumber|activate|deactivate|rect|destroy|direction|hide|show|style|classDef|class\s+\S+\s+\S+$|\}|--)"
)

_STATE = re.compile(r"\s*state\s+(?:\"([^\"]*)\"\s+as\s+)?(\S+?)\s*(\{|<<\w+>>)?\s*$")
_STEP = re.compile(rf"\s*(\[\*\]|{_NAME})\s*-->\s*(\[\*\]|{_NAME})\s*(?::(.*))?$")
_DESCRIBED = re.compile(rf"\s*({_NAME})\s*:(?!:)(.+)$")
_SINGLE = re.compile(rf"\s*({_NAME})\s*$")

_CLASS = re.compile(r"\s*+class\s++([\w`~.-]++)\s*+(?:\[\"([^\"]*)\"\])?+\s*+(\{)?+\s*+(\})?+\s*+$")
_RELATION = re.compile(
    rf"\s*({_QUOTED_NAME})\s*(?:\"[^\"]*\")?\s*((?:<\|?|\*|o)?(?:--|\.\.)(?:\|?>|\*|o)?)\s*(?:\"[^\"]*\")?\s*({_QUOTED_NAME})\s*(?::(.*))?$"
)
_ENTITY = re.compile(rf"\s*({_QUOTED_NAME})\s*(?:\[([^\]]*)\])?\s*\{{\s*$")
_ER_RELATION = re.compile(
    rf"\s*({_QUOTED_NAME})\s+[|}}o]{{1,2}}(?:--|\.\.)[|{{o]{{1,2}}\s+({_QUOTED_NAME})\s*(?::(.*))?$"
)
_TYPES = re.compile(
    r"\b(?:int|integer|string|str|bool|boolean|float|double|date|datetime|void|text|PK|FK|UK|uuid|char|varchar)\b",
    re.IGNORECASE,
)
_MARKS = re.compile(r"[+#~$*()\[\]{}<>]|(?<!\w)-(?!\w)")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")

_TITLE = re.compile(r"^title\s*+:(.+)", re.MULTILINE)

ReadStatement = Callable[["_Reader", ChartStatement], bool]


class _Reader(NamedTuple):
    chart: Chart
    inside: list[str]  # the class, entity or note whose lines are read


def parse_chart(text: str, above: int = 0, prefix: str = "") -> Artifact:
    """A chart by the word that it starts with; without a known one it is a flowchart."""
    front = text[: find_front_matter_end(text)]
    if title := _TITLE.search(front):
        chart = parse_chart("\n" * front.count("\n") + text[len(front) :], above, prefix)
        said = build_element(f"{prefix}title", "note", clean_label(title[1]), above + 1, is_node=False)
        return replace(chart, elements=[*chart.elements, said])
    text = "\n" * front.count("\n") + text[len(front) :]
    first = next((line for each in text.split("\n") if (line := each.strip()) and not line.startswith("%%")), "")
    word = _FIRST_WORD.match(first)
    kind = word[0] if word else ""
    if kind in _KINDS:
        return _parse(text, above, prefix, kind, _KINDS[kind])
    if kind in _OTHER_KINDS or kind.endswith(("-beta", "Chart", "Diagram")):
        return _parse(text, above, prefix, kind, _read_any)
    return parse_flowchart(text, above, prefix)


def _parse(text: str, above: int, prefix: str, kind: str, read: ReadStatement) -> Artifact:
    reader = _Reader(Chart(prefix), [])
    is_first = True
    for statement in iter_statements(reader.chart, text, above):
        if is_first and statement.text.strip().startswith(kind):
            is_first = False
            continue
        read_this = read if len(statement.text) <= _MAX_STATEMENT else _read_any
        if not read_this(reader, statement):
            reader.chart.warnings.append(f"line {statement.line} is not valid")
    return reader.chart.build()


def _read_any(reader: _Reader, statement: ChartStatement) -> bool:
    reader.chart.add_other("line", clean_label(statement.text), statement.line, statement.cited)
    return True


def _read_note(reader: _Reader, statement: ChartStatement) -> bool:
    """A note, in one line or in several up to `end note`."""
    text = statement.text
    if reader.inside and reader.inside[-1] == "note":
        if text.strip().casefold() == "end note":
            reader.inside.pop()
        else:
            reader.chart.add_other("note", text, statement.line, statement.cited)
        return True
    found = _NOTE.match(text)
    if found is None:
        return False
    said = found[2] if found[2] is not None else found[3]
    if said is None:
        reader.inside.append("note")
    else:
        reader.chart.add_other("note", clean_label(said), statement.line, statement.cited)
    return True


def _read_sequence(reader: _Reader, statement: ChartStatement) -> bool:
    chart, (text, line, cited) = reader.chart, statement
    if participant := _PARTICIPANT.match(text):
        chart.add_node(participant[1], clean_label(participant[2] or participant[1]), line, cited, is_start=True)
    elif message := _MESSAGE.match(text):
        for name in (message[1], message[4]):
            chart.add_node(name, None, line, cited, is_start=True)
        chart.add_edge(message[1], message[4], clean_label(message[5] or ""), line, cited)
    elif _read_note(reader, statement) or _IDLE.match(text):
        pass
    elif block := _BLOCK.match(text):
        if block[1].strip():
            chart.add_other("note", clean_label(block[1]), line, cited)
    else:
        return False
    return True


def _read_state(reader: _Reader, statement: ChartStatement) -> bool:
    chart, (text, line, cited) = reader.chart, statement
    if _read_note(reader, statement):
        return True
    if step := _STEP.match(text):
        origin, goal = step[1], step[2]
        for name in (origin, goal):
            if name != "[*]":
                chart.add_node(name, None, line, cited, is_start=origin == "[*]")
        if "[*]" not in (origin, goal):
            chart.add_edge(origin, goal, clean_label(step[3] or ""), line, cited)
        elif (step[3] or "").strip():
            chart.add_other("note", clean_label(step[3]), line, cited)
    elif state := _STATE.match(text):
        chart.add_node(state[2], clean_label(state[1]) if state[1] else None, line, cited)
    elif _IDLE.match(text):
        pass
    elif described := _DESCRIBED.match(text):
        chart.add_node(described[1], clean_label(described[2]), line, cited)
    elif single := _SINGLE.match(text):
        chart.add_node(single[1], None, line, cited)
    else:
        return False
    return True


def _read_class(reader: _Reader, statement: ChartStatement) -> bool:
    chart, (text, line, cited) = reader.chart, statement
    if reader.inside and reader.inside[-1] != "note":
        return _read_member(reader, statement)
    if _read_note(reader, statement):
        return True
    if found := _CLASS.match(text):
        name = found[1]
        chart.add_node(name, clean_label(found[2]) if found[2] else None, line, cited)
        if found[3] and not found[4]:
            reader.inside.append(name)
    elif relation := _RELATION.match(text):
        one, other = _plain(relation[1]), _plain(relation[3])
        for name in (one, other):
            chart.add_node(name, None, line, cited)
        # `A <|-- B`: B is an A, so B is said first.
        origin, goal = (other, one) if relation[2].startswith("<") else (one, other)
        chart.add_edge(origin, goal, clean_label(relation[4] or ""), line, cited)
    elif described := _DESCRIBED.match(text):
        chart.add_node(described[1], None, line, cited)
        chart.add_other("member", _clean_member(described[2]), line, cited)
    elif not (_IDLE.match(text) or text.strip().startswith(("<<", "namespace", "link", "callback", "cssClass"))):
        return False
    return True


def _read_entity(reader: _Reader, statement: ChartStatement) -> bool:
    chart, (text, line, cited) = reader.chart, statement
    if reader.inside:
        return _read_member(reader, statement)
    if relation := _ER_RELATION.match(text):
        one, other = _plain(relation[1]), _plain(relation[2])
        for name in (one, other):
            chart.add_node(name, None, line, cited, is_start=True)
        chart.add_edge(one, other, clean_label(relation[3] or ""), line, cited)
    elif entity := _ENTITY.match(text):
        name = _plain(entity[1])
        chart.add_node(name, clean_label(entity[2]) if entity[2] else None, line, cited, is_start=True)
        reader.inside.append(name)
    elif single := _SINGLE.match(text):
        chart.add_node(single[1], None, line, cited, is_start=True)
    else:
        return False
    return True


def _read_member(reader: _Reader, statement: ChartStatement) -> bool:
    """A line inside the braces of a class or an entity; without a citation it has that of its owner."""
    if statement.text.strip() == "}":
        reader.inside.pop()
        return True
    said = _clean_member(statement.text)
    if said:
        owner = reader.chart.nodes.get(reader.inside[-1])
        cited = statement.cited or (owner.citations if owner else ())
        reader.chart.add_other("member", said, statement.line, cited)
    return True


def _clean_member(text: str) -> str:
    return " ".join(_HUMP.sub(" ", _MARKS.sub(" ", _TYPES.sub(" ", text.replace('"', " ")))).split())


def _plain(name: str) -> str:
    return name.strip('"')


_KINDS: dict[str, ReadStatement] = {
    "sequenceDiagram": _read_sequence,
    "stateDiagram": _read_state,
    "stateDiagram-v2": _read_state,
    "classDiagram": _read_class,
    "classDiagram-v2": _read_class,
    "erDiagram": _read_entity,
}
_OTHER_KINDS = frozenset({"pie", "gantt", "mindmap", "timeline", "journey", "gitGraph", "C4Context", "kanban"})
