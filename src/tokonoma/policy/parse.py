"""From YAML to rules: every key known, every value in its bounds, all problems told at once with their places."""

import math
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar, cast

from tokonoma.core.desk import CLASSIFICATIONS, Classification
from tokonoma.core.errors import find_nearest
from tokonoma.core.policy import LAYERS, Layer, LayerRule, RetrievalSettings
from tokonoma.policy.rules import (
    CLASS_RULES,
    DAY,
    LAYER_RULES,
    ClassRule,
    CustomDetector,
    Invariant,
    MaskRule,
    PlacementRule,
    PolicyRules,
    WriteRules,
    apply_masks,
)
from tokonoma.policy.scan import KINDS_BY_NATURE
from tokonoma.policy.yaml_tree import PolicyProblem, YamlNode, parse_yaml, policy_error

T = TypeVar("T")
_LENGTHS = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": DAY, "w": 7 * DAY}
_PLACE = ("module", "space", "path")
_TAG = re.compile(r"\*|[A-Za-z][\w.-]*(:([\w./-]+|\*))?")
_KIND = re.compile(r"[a-z][a-z0-9_]{1,31}")
_TOP = (
    "version", "scopes", "boundary_classes", "labels", "masks", "invariants", "callers", "detectors", "kinds", "writes",
    "retrieval",
)  # fmt: skip


def parse_policy(text: str) -> PolicyRules:
    """The rules that a YAML text means; Invalid tells every problem with line, column and key."""
    reader = _PolicyParser()
    rules = reader.parse_rules(_unwrap(parse_yaml(text)))
    if reader.problems:
        raise policy_error(sorted(reader.problems, key=lambda each: (each.line, each.column)))
    return rules


def _unwrap(root: YamlNode) -> YamlNode:
    """The nested form: everything under `policy:`, or scopes and classes under `boundary:`."""
    members = root.value
    if isinstance(members, dict) and set(members) == {"policy"}:
        root, members = members["policy"], members["policy"].value
    if isinstance(members, dict) and "boundary" in members and isinstance(members["boundary"].value, dict):
        rest = {name: node for name, node in members.items() if name != "boundary"}
        return YamlNode({**members["boundary"].value, **rest}, "", root.key, root.line, root.column)
    return root


class _PolicyParser:
    """Collects problems; what cannot be read gets a value that is never used, since the whole is refused."""

    def __init__(self) -> None:
        self.problems: list[PolicyProblem] = []
        self._known = set(KINDS_BY_NATURE["pii"] | KINDS_BY_NATURE["secret"])

    def parse_rules(self, root: YamlNode) -> PolicyRules:
        given = self._members(root, _TOP)
        if "version" not in given:
            self.problems.append(root.problem("version is missing"))
        detectors = tuple(self._list(given.get("detectors"), self._detector))
        masks = tuple(self._list(given.get("masks"), self._mask_rule))
        said: dict[Classification, ClassRule] = self._each(given.get("boundary_classes"), CLASSIFICATIONS, self._class)
        return PolicyRules(
            version=self._version(given["version"]) if "version" in given else "0.0.0",
            layers={**LAYER_RULES, **self._each(given.get("scopes"), LAYERS, self._layer)},
            class_rules=apply_masks({**CLASS_RULES, **said}, masks),
            placements=tuple(self._list(given.get("labels"), self._label_rule)),
            masks=masks,
            invariants=tuple(self._list(given.get("invariants"), self._invariant)),
            callers=tuple(self._each(given.get("callers"), None, self._tags).items()),
            detectors=detectors,
            kinds=self._each(given.get("kinds"), self._known, self._label),
            writes=self._writes(given.get("writes")),
            retrieval=self._retrieval(given.get("retrieval")),
        )

    # Parts

    def _version(self, node: YamlNode) -> str:
        found = re.fullmatch(r"(\d{1,6})(?:\.(\d{1,6}))?(?:\.(\d{1,6}))?", node.written)
        if found is None:
            return self._report(node, "a version looks like 0.1 or 1.2.3", "0.0.0")
        return ".".join(part or "0" for part in found.groups())

    def _layer(self, node: YamlNode) -> LayerRule:
        given = self._members(node, ("ttl", "max_tokens"))
        base = LAYER_RULES[cast("Layer", node.key.rpartition(".")[2])]
        ttl = self._ttl(given["ttl"]) if "ttl" in given else base.ttl
        return LayerRule(ttl, int(self._number(given.get("max_tokens"), base.max_tokens, 1, 10_000_000, whole=True)))

    def _class(self, node: YamlNode) -> ClassRule:
        given = self._members(node, ("allow", "redact", "escalation"))
        return ClassRule(
            self._tags(given["allow"]) if "allow" in given else (),
            tuple(self._list(given.get("redact"), self._redact_kind)),
            cast("Any", self._one_of(given.get("escalation"), ("none", "human_review", "deny"), "none")),
        )

    def _label_rule(self, node: YamlNode) -> PlacementRule:
        given = self._members(node, ("class", *_PLACE))
        if "class" not in given or not given.keys() & set(_PLACE):
            return self._report(node, "name a class and at least one of module, space, path", PlacementRule("secret"))
        return PlacementRule(self._label(given["class"]), *self._place(given))

    def _mask_rule(self, node: YamlNode) -> MaskRule:
        given = self._members(node, ("kinds", "class", *_PLACE))
        kinds = tuple(self._list(given.get("kinds"), self._redact_kind))
        if not kinds or not given.keys() & set(_PLACE):
            return self._report(node, "name kinds and at least one of module, space, path", MaskRule(()))
        return MaskRule(kinds, self._label(given["class"]) if "class" in given else "pii", *self._place(given))

    def _place(self, given: Mapping[str, YamlNode]) -> tuple[str, str, str]:
        """module, space and path"""
        space = self._text(given.get("space"))
        if space and not space.startswith("/"):
            self.problems.append(given["space"].problem("a space begins with /"))
        root = space.rstrip("/") or ("/" if space else "")
        return self._text(given.get("module")), root, self._text(given.get("path"))

    def _invariant(self, node: YamlNode) -> Invariant:
        given = self._members(node, ("class", "scope", "deny"))
        if "class" not in given:
            return self._report(node, "name the class that it is about", Invariant("secret"))
        scope = self._one_of(given.get("scope"), LAYERS, "") or None
        deny = tuple(self._list(given.get("deny"), lambda each: self._one_of(each, ("read", "write"), "read")))
        return Invariant(self._label(given["class"]), cast("Any", scope), cast("Any", deny or ("read", "write")))

    def _detector(self, node: YamlNode) -> CustomDetector:
        given = self._members(node, ("kind", "class", "pattern"))
        if not {"kind", "pattern"} <= given.keys():
            return self._report(node, "a detector needs kind and pattern", CustomDetector("x", "pii", "x"))
        kind, pattern = self._text(given["kind"]), self._text(given["pattern"])
        if not _KIND.fullmatch(kind):
            self.problems.append(given["kind"].problem("a kind is a word of small letters, digits and _"))
        problem = check_pattern(pattern)
        if problem:
            self.problems.append(given["pattern"].problem(problem))
        self._known.add(kind)
        return CustomDetector(kind, cast("Any", self._one_of(given.get("class"), ("pii", "secret"), "pii")), pattern)

    def _writes(self, node: YamlNode | None) -> WriteRules:
        given = self._members(node, ("secret", "pii")) if node is not None else {}
        actions = ("allow", "redact", "refuse")
        secret = self._one_of(given.get("secret"), actions, "refuse")
        return WriteRules(cast("Any", secret), cast("Any", self._one_of(given.get("pii"), actions, "allow")))

    def _retrieval(self, node: YamlNode | None) -> RetrievalSettings:
        base = RetrievalSettings()
        if node is None:
            return base
        names = ("alpha", "k_txt", "k_vec", "k_final")
        given = self._members(node, ("hybrid", "rerank", *names))
        hybrid = {**given, **(self._members(given["hybrid"], names) if "hybrid" in given else {})}
        known = ("use_quality", "recency_half_life_days", "recency")
        rerank = self._members(given["rerank"], known) if "rerank" in given else {}
        recency = self._members(rerank["recency"], ("half_life_days_by_kind",)) if "recency" in rerank else {}
        by_kind = self._each(recency.get("half_life_days_by_kind"), tuple(base.half_life_by_kind), self._days)
        return RetrievalSettings(
            alpha=self._number(hybrid["alpha"], 0.65, 0.3, 0.9) if "alpha" in hybrid else None,
            k_txt=int(self._number(hybrid.get("k_txt"), 48, 1, 1000, whole=True)),
            k_vec=int(self._number(hybrid.get("k_vec"), 96, 1, 1000, whole=True)),
            k_final=int(self._number(hybrid.get("k_final"), 12, 1, 50, whole=True)),
            use_quality=self._flag(rerank.get("use_quality")),
            half_life_days=self._number(rerank.get("recency_half_life_days"), 30.0, 0.01, 36_500),
            half_life_by_kind={**base.half_life_by_kind, **by_kind},
        )

    # Values

    def _report(self, node: YamlNode, message: str, instead: T) -> T:
        self.problems.append(node.problem(message))
        return instead

    def _members(self, node: YamlNode, allowed: Collection[str]) -> dict[str, YamlNode]:
        if not isinstance(node.value, dict):
            return self._report(node, f"here belong keys: {', '.join(allowed)}", {})
        members = node.value
        for name, each in members.items():
            if name not in allowed:
                meant = find_nearest(name, allowed, 1)
                hint = f"; did you mean {meant[0]}?" if meant else f"; there are {', '.join(allowed)}"
                self.problems.append(each.problem(f"unknown key {name!r}{hint}"))
        return {name: each for name, each in members.items() if name in allowed}

    def _each(
        self, node: YamlNode | None, allowed: Collection[Any] | None, read: Callable[[YamlNode], T]
    ) -> dict[Any, T]:
        if node is None or node.value is None:
            return {}
        names = allowed if allowed is not None else list(cast("Mapping[str, YamlNode]", node.value or {}))
        return {name: read(each) for name, each in self._members(node, names).items()}

    def _list(self, node: YamlNode | None, read: Callable[[YamlNode], T]) -> list[T]:
        if node is None or node.value is None:
            return []
        if not isinstance(node.value, list):
            return self._report(node, "here belongs a list", [])
        return [read(each) for each in node.value]

    def _text(self, node: YamlNode | None) -> str:
        if node is None:
            return ""
        return node.value if isinstance(node.value, str) else self._report(node, "here belongs a text", "")

    def _tags(self, node: YamlNode) -> tuple[str, ...]:
        def tag(each: YamlNode) -> str:
            text = self._text(each)
            return text if _TAG.fullmatch(text) else self._report(each, "a tag looks like answer:task, tool:* or *", "")

        return tuple(self._list(node, tag))

    def _redact_kind(self, node: YamlNode) -> str:
        text = self._text(node)
        known = {*self._known, *KINDS_BY_NATURE, "*"}
        if text not in known:
            meant = find_nearest(text, known, 1)
            hint = f"; did you mean {meant[0]}?" if meant else ""
            self.problems.append(node.problem(f"no detector finds {text!r}{hint}"))
        return text

    def _label(self, node: YamlNode) -> Classification:
        return cast("Classification", self._one_of(node, CLASSIFICATIONS, "secret"))

    def _one_of(self, node: YamlNode | None, allowed: Collection[str], default: str) -> str:
        if node is None:
            return default
        if node.value in allowed and isinstance(node.value, str):
            return node.value
        return self._report(node, f"one of {', '.join(allowed)}", default)

    def _flag(self, node: YamlNode | None) -> bool:
        if node is None or isinstance(node.value, bool):
            return bool(node is not None and node.value)
        return self._report(node, "true or false", False)

    def _days(self, node: YamlNode) -> float:
        return self._number(node, 30.0, 0.01, 36_500)

    def _number(self, node: YamlNode | None, default: float, low: float, high: float, *, whole: bool = False) -> float:
        if node is None:
            return default
        value = node.value
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            return self._report(node, "here belongs a number", default)
        if not low <= value <= high or (whole and not isinstance(value, int)):
            return self._report(node, f"a {'whole ' if whole else ''}number from {low:g} to {high:g}", default)
        return value

    def _ttl(self, node: YamlNode) -> int | None:
        found = re.fullmatch(r"(\d{1,6})([smhdw])", node.written)
        if node.written in ("inf", ".inf"):
            return None
        if found is None or int(found[1]) == 0:
            return self._report(node, "a time looks like 30m, 12h, 7d, 4w or inf", DAY)
        return int(found[1]) * _LENGTHS[found[2]]


def check_pattern(pattern: str) -> str:
    """Why RE2 does not take a pattern, or would find nothing but emptiness with it; empty if it is fine."""
    from tokonoma.policy.scan import compile_pattern

    if not pattern or len(pattern) > 1000:
        return "a pattern has 1 to 1000 characters"
    try:
        made = compile_pattern(pattern)
    except ValueError as error:
        return f"RE2 does not take this pattern: {error}"
    return "this pattern matches the empty text" if made.search(b"") else ""
