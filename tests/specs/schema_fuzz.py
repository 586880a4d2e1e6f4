"""Arguments by chance from a tool's JSON Schema: valid ones, nearly valid ones, and hostile ones."""

import json
import random
from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any

Json = Any
MAX_TEXT = 3_000  # characters; a longer one only where a schema has its limit there

_WORDS = ["server", "鍵", "データベース", "returns", "2026-05-01", "x", "設定を変える", "Müller", "a-b_c", "第3条"]
_STRANGE = [
    "", " ", "\t\n", "\x00", "a\x00b", "\ud800", "x\udfff", "\u202eevil\u202c", "👩‍👩‍👧‍👦", "e\u0301" * 40, "\ufeff",
    "\u2028", "ﷺ" * 20, "İ", "ß", "ſ", "\x1b[31m", "\r\n", "'", '"', "\\", "--", "';drop table memo;--", "%", "_", "*",
    "NEAR(", "a AND", "(a+)+$", "[", "(?", "{visible}", "${a.b}", "$${", "{{", "<!--", "---", "../..", "/", "//", "..",
    "/etc/passwd", "C:\\x", "CON",
    "a/./b", "~", ".system/versions", "a.md/b", "=1+1", "null", "true", "NaN", "-0", "1e400",
    "9999-12-31T23:59:60Z", "0x10", "0000-00-00", "2024-02-30T00:00:00Z", "-292277022399-01-01T00:00:00Z",
    "2026-01-01T00:00:00", "٣", "Ⅷ", "１２３", "tokonoma://memory/x", "tokonoma://", "issue-1",
    "issue-99999999999999999999", "-1", "1-",
    "# " + "{#" * 60, "[a](" * 100, "```\n" * 50, "- " * 200, "|a|" * 100, "> " * 100, "&#x0;", "<script>", "data:,x",
]  # fmt: skip
_NUMBERS = [
    0, -1, 1, 2, 3, 100, 101, 1_000, 2**31, 2**32, 2**53, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64,
    10**30, 10**400, 0.5, -0.0, 1.0, 1e-300, 5e-324, 1e308, -1e308, 99999999999999.5,
]  # fmt: skip


def nest(depth: int, value: Json = "x") -> Json:
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


class ArgumentMaker:
    """`learn` takes the names in an answer, so that later calls use records that exist. `samples` are arguments that
    are right, by the name of the tool: what a schema cannot say."""

    def __init__(self, seed: int, samples: dict[str, list[dict[str, Json]]]) -> None:
        self.dice = random.Random(seed)
        self._samples = samples
        self._known: dict[str, deque[Json]] = defaultdict(lambda: deque(maxlen=30))
        self._records: deque[dict[str, Json]] = deque(maxlen=100)
        self._optional = 0.3  # the share of optional fields that are given

    def learn(self, answer: Json) -> None:
        for record in _iter_records(answer):
            self._records.append(record)
            for name, value in record.items():
                self._known[name].append(value)

    def make(self, schema: Json, tool: str = "") -> Json:
        """Arguments for one call."""
        kind = self.dice.choices(["valid", "near", "hostile", "shape"], [45, 35, 12, 8])[0]
        self._optional = self.dice.choice([0.0, 0.1, 0.3, 0.6])
        arguments = self._make_object(schema)
        if self.dice.random() < 0.5:
            arguments |= self.dice.choice(self._samples.get(tool, [{}]))
        if kind == "near" and arguments:
            name = self.dice.choice(list(arguments))
            arguments[name] = self._spoil(schema.get("properties", {}).get(name, {}), arguments[name])
        elif kind == "hostile":
            arguments = {name: self.make_hostile() for name in schema.get("properties", {}) if self.dice.random() < 0.7}
        elif kind == "shape":
            return self._misshape(arguments)
        return arguments

    def make_hostile(self) -> Json:
        dice = self.dice
        return dice.choice(
            [
                lambda: dice.choice(_STRANGE),
                lambda: dice.choice(_STRANGE) + dice.choice(_WORDS) + dice.choice(_STRANGE),
                lambda: dice.choice(_NUMBERS),
                lambda: dice.choice([None, True, False]),
                lambda: dice.choice([[], {}, [[]], [None], {"": ""}, [{}], {"\x00": 1}, {"\ud800": "\ud800"}]),
                lambda: nest(dice.randrange(1, 50)),
                lambda: [dice.choice(_STRANGE) for _ in range(dice.randrange(60))],
                lambda: {dice.choice(_STRANGE): dice.choice(_NUMBERS) for _ in range(dice.randrange(20))},
                lambda: dice.choice(_STRANGE) * dice.randrange(1, 400),
            ]
        )()

    def make_jsonl(self, tools: list[tuple[str, str, Json]]) -> str:
        """Lines of a batch: steps that fit, with references between them, and lines that do not."""
        lines: list[str] = []
        right = [each for each in tools if each[1] in self._samples]
        is_sound = self.dice.random() < 0.5
        for number in range(self.dice.randrange(6)):
            module, tool, schema = self.dice.choice(right if is_sound else tools)
            params = self.dice.choice(self._samples[tool]) if is_sound else self.make(schema, tool)
            step: dict[str, Json] = {"id": f"s{number}", "module": module, "tool": tool, "params": params}
            if number and isinstance(params, dict) and self.dice.random() < 0.3:
                name = self.dice.choice([*params, "query"])
                field = self.dice.choice(["memo_id", "items[0].id", "title", "x.y", ""])
                step["params"] = {**params, name: f"${{s{number - 1}.{field}}}"}
            if not is_sound and self.dice.random() < 0.4:
                more = self.dice.choice(["after", "output", "fields", "time_limit", "id", "params", "other"])
                step[more] = self.dice.choice([True, ["s0"], ["items.id", "*"], 0.5, self.make_hostile()])
            lines.append(json.dumps(step))
        if not is_sound and self.dice.random() < 0.2:
            lines.append(self.dice.choice(["", "{", "null", "[]", '"x"', "{}", "NaN", '{"id":1}', "\x00", "{" * 80]))
        return "\n".join(lines)

    def _make_object(self, schema: Json) -> dict[str, Json]:
        required = set(schema.get("required", ()))
        properties: dict[str, Json] = schema.get("properties", {})
        chosen = [name for name in properties if name in required or self.dice.random() < self._optional]
        made = {name: self._make_value(properties[name], name) for name in chosen}
        if self._records and self.dice.random() < 0.6:  # fields that belong together, such as type and id
            record = self.dice.choice(self._records)
            made |= {name: record[_singular(name)] for name in made if _singular(name) in record}
        if not properties and isinstance(schema.get("additionalProperties"), dict | bool):
            made |= {
                self.dice.choice(["a", "date", "a.b", "鍵"]): self._make_any() for _ in range(self.dice.randrange(4))
            }
        return made

    def _make_value(self, schema: Json, name: str) -> Json:
        if "anyOf" in schema:
            return self._make_value(self.dice.choice(schema["anyOf"]), name)
        if "enum" in schema:
            return self.dice.choice(schema["enum"])
        match schema.get("type"):
            case "string":
                return self._make_text(schema, name)
            case "integer":
                return self._make_integer(schema, name)
            case "number":
                low, high = schema.get("minimum", 0), schema.get("maximum", 100)
                return self.dice.choice([low, high, self.dice.uniform(low, high)])
            case "boolean":
                return self.dice.random() < 0.5
            case "array":
                least, most = schema.get("minItems", 0), min(schema.get("maxItems", 5), 5)
                items = schema.get("items", {})
                return [self._make_value(items, name) for _ in range(self.dice.randint(least, most))]
            case "object":
                known = [each for each in self._known[name] if isinstance(each, dict)]
                return self.dice.choice(known) if known and self.dice.random() < 0.7 else self._make_object(schema)
            case "null":
                return None
            case _:
                return self._make_any()

    def _make_any(self) -> Json:
        return self.dice.choice([self.dice.choice(_WORDS), 7, 0.5, True, None, ["x"], {"contains": "x"}, {"gte": 3}])

    def _make_text(self, schema: Json, name: str) -> str:
        known = [each for each in self._known[_singular(name)] if isinstance(each, str)]
        if known and self.dice.random() < 0.7:
            return self.dice.choice(known)
        least, most = schema.get("minLength", 0), min(schema.get("maxLength", MAX_TEXT), MAX_TEXT)
        size = self.dice.choice([least, least + 1, 10, 60, 400, most])
        text = " ".join(self.dice.choices(_WORDS, k=size // 2 + 1))
        if self.dice.random() < 0.25:
            text = self.dice.choice(_STRANGE) + text
        return text[: max(least, min(size, most))].ljust(least, "x")

    def _make_integer(self, schema: Json, name: str) -> int:
        known = [each for each in self._known[name] if isinstance(each, int)]
        if known and self.dice.random() < 0.6:
            return self.dice.choice(known)
        low = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
        high = schema.get("maximum", self.dice.choice([10, 2**31, 2**63 - 1]))
        return self.dice.choice([low, high, self.dice.randint(low, high), min(high, low + 1)])

    def _spoil(self, schema: Json, value: Json) -> Json:
        """A value just outside of the schema, or of another kind."""
        choices: list[Json] = [self.make_hostile(), None, [value], {"value": value}, str(value)]
        if "maxLength" in schema:
            choices += ["x" * schema["maxLength"], "鍵" * (schema["maxLength"] + 1)]
        if "maximum" in schema:
            choices += [schema["maximum"] + 1, schema["maximum"], float(schema["maximum"])]
        if "minimum" in schema:
            choices += [schema["minimum"] - 1, schema["minimum"] - 0.5]
        if "maxItems" in schema:
            choices.append([value] * (schema["maxItems"] + 1))
        return self.dice.choice(choices)

    def _misshape(self, arguments: dict[str, Json]) -> Json:
        change = self.dice.randrange(5)
        if change == 0:
            return {
                **arguments,
                self.dice.choice(["unknown", "", "\x00", "\ud800", "Query", "desk"]): self.make_hostile(),
            }
        if change == 1 and arguments:
            del arguments[self.dice.choice(list(arguments))]
            return arguments
        if change == 2:
            return {**arguments, **{f"u{number}": number for number in range(self.dice.randrange(300))}}
        return self.dice.choice([[], "x", 7, None, {}, [arguments], nest(40, arguments)])


def _singular(name: str) -> str:
    same = {
        "from_path": "path",
        "to_path": "path",
        "artifact_path": "path",
        "source_path": "path",
        "cursor": "next_cursor",
    }
    same |= {
        "startMemoId": "memo_id",
        "sourceMemoId": "memo_id",
        "targetMemoId": "memo_id",
        "claim_id": "id",
        "by": "id",
    }
    same |= {"pivot_memo_id": "memo_id", "expect_memo_id": "memo_id", "target": "address", "related": "address"}
    return same.get(name, name.removesuffix("s") if name in ("tags", "types", "statuses") else name)


def _iter_records(answer: Json) -> Iterator[dict[str, Json]]:
    """Every object in an answer, with its short fields and with the objects that it refers to."""
    if isinstance(answer, dict):
        short = {name: value for name, value in answer.items() if len(str(value)) < 300 and not isinstance(value, list)}
        if short:
            yield short
    inner = answer.values() if isinstance(answer, dict) else answer[:5] if isinstance(answer, list) else ()
    for value in inner:
        yield from _iter_records(value)
