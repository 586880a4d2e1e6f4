"""From YAML to rules. Unknown keys and values out of range are errors; all problems are reported at once."""

import re
from collections.abc import Collection, Mapping
from typing import Any, cast

from tokonoma.core.desk import CLASSIFICATIONS, Classification
from tokonoma.core.errors import find_nearest
from tokonoma.core.policy import LAYERS, Layer, LayerRule, RetrievalSettings
from tokonoma.policy import rules
from tokonoma.policy.breadth import can_compile, check_pattern, find_breadth_problem
from tokonoma.policy.detections import Detector, Nature
from tokonoma.policy.parse_tools import parse_tool_rules
from tokonoma.policy.parse_values import PolicyValues
from tokonoma.policy.rules import DAY, PolicyRules
from tokonoma.policy.scan import KINDS_BY_NATURE
from tokonoma.policy.yaml_tree import YamlNode, parse_yaml, policy_error

_LENGTHS = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": DAY, "w": 7 * DAY}
_PLACE = ("module", "space", "path")
_TAG = re.compile(r"\*|[A-Za-z][\w.-]*(:([\w./-]+|\*))?")
_KIND = re.compile(r"[a-z][a-z0-9_]{1,31}")
_BUILTIN_KINDS = KINDS_BY_NATURE["pii"] | KINDS_BY_NATURE["secret"]
_TOP = (
    "version", "scopes", "boundary_classes", "labels", "masks", "invariants", "callers", "detectors", "kinds", "writes",
    "retrieval", "tools",
)  # fmt: skip


def parse_policy(
    text: str, *, proposed: bool = False, modules: Collection[str] = (), tools: Collection[str] = ()
) -> PolicyRules:
    """Raises Invalid with line, column and key of every problem. `proposed`: it is to be applied. Then no detector may
    match nearly everything or change a built-in kind, and a place or a rule about tools must name one of the `modules`
    or `tools`, if they are given. A stored policy stays readable, for example after a plugin was removed."""
    parser = _PolicyParser(proposed, modules, tools)
    parsed = parser.parse_rules(_unwrap(parse_yaml(text)))
    if parser.problems:
        raise policy_error(sorted(parser.problems, key=lambda each: (each.line, each.column)))
    return parsed


def _unwrap(root: YamlNode) -> YamlNode:
    """Accept the nested form: everything under `policy:`, or scopes and classes under `boundary:`."""
    members = root.value
    if isinstance(members, dict) and set(members) == {"policy"}:
        root, members = members["policy"], members["policy"].value
    if isinstance(members, dict) and "boundary" in members and isinstance(members["boundary"].value, dict):
        rest = {name: node for name, node in members.items() if name != "boundary"}
        return YamlNode({**members["boundary"].value, **rest}, "", root.key, root.line, root.column)
    return root


class _PolicyParser(PolicyValues):
    def __init__(self, proposed: bool, modules: Collection[str], tools: Collection[str]) -> None:
        super().__init__()
        self._proposed, self._modules, self._tools = proposed, modules, tools
        self._known = set(_BUILTIN_KINDS)
        self._own: dict[str, str] = {}  # kinds of its own detectors, with their class

    def parse_rules(self, root: YamlNode) -> PolicyRules:
        given = self.take_members(root, _TOP)
        if "version" not in given:
            self.report(root, "version is missing", None)
        detectors = self._detectors(given.get("detectors"))
        masks = tuple(self.take_list(given.get("masks"), self._mask_rule))
        classes = self.take_each(given.get("boundary_classes"), CLASSIFICATIONS, self._class)
        return PolicyRules(
            version=self._version(given["version"]) if "version" in given else "0.0.0",
            layers={**rules.LAYER_RULES, **self.take_each(given.get("scopes"), LAYERS, self._layer)},
            class_rules={**rules.CLASS_RULES, **classes},
            placements=tuple(self.take_list(given.get("labels"), self._placement)),
            masks=(*masks, *rules.FILE_MASKS),
            invariants=tuple(self.take_list(given.get("invariants"), self._invariant)),
            callers=tuple(self.take_each(given.get("callers"), None, self._tags).items()),
            tools=parse_tool_rules(self, given.get("tools"), self._proposed, self._tools),
            detectors=detectors,
            kinds=self.take_each(given.get("kinds"), self._known, self._classification),
            writes=self._writes(given.get("writes")),
            retrieval=self._retrieval(given.get("retrieval")),
        )

    # Parts

    def _version(self, node: YamlNode) -> str:
        found = re.fullmatch(r"(\d{1,6})(?:\.(\d{1,6}))?(?:\.(\d{1,6}))?", node.written)
        if found is None:
            return self.report(node, "a version looks like 0.1 or 1.2.3", "0.0.0")
        return ".".join(part or "0" for part in found.groups())

    def _layer(self, node: YamlNode) -> LayerRule:
        given = self.take_members(node, ("ttl", "max_tokens"))
        base = rules.LAYER_RULES[cast("Layer", node.key.rpartition(".")[2])]
        ttl = self._ttl(given["ttl"]) if "ttl" in given else base.ttl
        return LayerRule(ttl, self.take_whole(given.get("max_tokens"), base.max_tokens, 1, 10_000_000))

    def _class(self, node: YamlNode) -> rules.ClassRule:
        given = self.take_members(node, ("allow", "redact", "escalation"))
        return rules.ClassRule(
            self._tags(given.get("allow")),
            tuple(self.take_list(given.get("redact"), self._redact_kind)),
            cast("Any", self.take_one_of(given.get("escalation"), ("none", "human_review", "deny"), "none")),
        )

    def _placement(self, node: YamlNode) -> rules.PlacementRule:
        given = self.take_members(node, ("class", *_PLACE))
        if "class" not in given or not given.keys() & set(_PLACE):
            return self.report(
                node, "give a class and at least one of module, space, path", rules.PlacementRule("secret")
            )
        return rules.PlacementRule(self._classification(given["class"]), *self._place(given))

    def _mask_rule(self, node: YamlNode) -> rules.MaskRule:
        given = self.take_members(node, ("kinds", "class", *_PLACE))
        kinds = tuple(self.take_list(given.get("kinds"), self._redact_kind))
        if not kinds or not given.keys() & set(_PLACE):
            return self.report(node, "give kinds and at least one of module, space, path", rules.MaskRule("pii"))
        classification = self._classification(given["class"]) if "class" in given else "pii"
        return rules.MaskRule(classification, *self._place(given), kinds)

    def _place(self, given: Mapping[str, YamlNode]) -> tuple[str, str, str]:
        """module, space and path"""
        space = self.take_text(given.get("space"))
        if space and not space.startswith("/"):
            self.report(given["space"], "a space starts with /", None)
        root = space.rstrip("/") or ("/" if space else "")
        module = self.take_text(given.get("module"))
        if module and self._proposed and self._modules and module not in self._modules:
            meant = find_nearest(module, self._modules, 1)
            hint = f"did you mean {meant[0]}?" if meant else f"there are: {', '.join(self._modules)}"
            self.report(given["module"], f"there is no module {module!r}; {hint}", None)
        return module, root, self.take_text(given.get("path"))

    def _invariant(self, node: YamlNode) -> rules.Invariant:
        given = self.take_members(node, ("class", "scope", "deny"))
        if "class" not in given:
            return self.report(node, "give a class", rules.Invariant("secret"))
        scope = self.take_one_of(given.get("scope"), LAYERS, "") or None
        deny = tuple(self.take_list(given.get("deny"), lambda each: self.take_one_of(each, ("read", "write"), "read")))
        effects = cast("Any", deny or ("read", "write"))
        return rules.Invariant(self._classification(given["class"]), cast("Any", scope), effects)

    def _detectors(self, node: YamlNode | None) -> tuple[Detector, ...]:
        before = len(self.problems)
        detectors = tuple(self.take_list(node, self._detector))
        if node is not None and detectors and len(self.problems) == before and not can_compile(detectors):
            self.report(node, "these patterns are too large together; make them shorter or fewer", None)
        return detectors

    def _detector(self, node: YamlNode) -> Detector:
        given = self.take_members(node, ("kind", "class", "pattern"))
        if not {"kind", "pattern"} <= given.keys():
            return self.report(node, "a detector needs kind and pattern", Detector("x", "pii", "x"))
        kind, pattern = self.take_text(given["kind"]), self.take_text(given["pattern"])
        nature = self.take_one_of(given.get("class"), ("pii", "secret"), "pii")
        if problem := self._check_kind(kind, nature):
            self.report(given["kind"], problem, None)
        problem = check_pattern(pattern) or (find_breadth_problem(pattern) if self._proposed else "")
        if problem:
            self.report(given["pattern"], problem, None)
        self._known.add(kind)
        return Detector(kind, cast("Nature", nature), pattern)

    def _check_kind(self, kind: str, nature: str) -> str:
        """What is wrong with the kind of a detector; empty if it is fine."""
        if not _KIND.fullmatch(kind):
            return "a kind consists of lower-case letters, digits and _"
        if not self._proposed:
            return ""
        if kind in _BUILTIN_KINDS or kind in KINDS_BY_NATURE:
            return f"{kind} is a built-in kind; choose another name"
        if self._own.setdefault(kind, nature) != nature:
            return f"another detector gives {kind} the class {self._own[kind]}; a kind has one class"
        return ""

    def _writes(self, node: YamlNode | None) -> Mapping[Nature, rules.WriteAction]:
        given = self.take_members(node, tuple(rules.WRITE_ACTIONS)) if node is not None else {}
        actions = ("allow", "redact", "refuse")
        return {
            name: cast("Any", self.take_one_of(given.get(name), actions, old))
            for name, old in rules.WRITE_ACTIONS.items()
        }

    def _retrieval(self, node: YamlNode | None) -> RetrievalSettings:
        base = RetrievalSettings()
        if node is None:
            return base

        def days(each: YamlNode | None) -> float:
            return self.take_number(each, 30.0, 0.01, 36_500)

        names = ("alpha", "k_txt", "k_vec", "k_final")
        given = self.take_members(node, ("hybrid", "rerank", *names))
        hybrid = {**given, **(self.take_members(given["hybrid"], names) if "hybrid" in given else {})}
        known = ("use_quality", "recency_half_life_days", "recency")
        rerank = self.take_members(given["rerank"], known) if "rerank" in given else {}
        recency = self.take_members(rerank["recency"], ("half_life_days_by_kind",)) if "recency" in rerank else {}
        by_kind = self.take_each(recency.get("half_life_days_by_kind"), tuple(base.half_life_by_kind), days)
        return RetrievalSettings(
            alpha=self.take_number(hybrid["alpha"], 0.65, 0.3, 0.9) if "alpha" in hybrid else None,
            k_txt=self.take_whole(hybrid.get("k_txt"), 48, 1, 1000),
            k_vec=self.take_whole(hybrid.get("k_vec"), 96, 1, 1000),
            k_final=self.take_whole(hybrid.get("k_final"), 12, 1, 50),
            use_quality=self.take_flag(rerank.get("use_quality")),
            half_life_days=days(rerank.get("recency_half_life_days")),
            half_life_by_kind={**base.half_life_by_kind, **by_kind},
        )

    # Values

    def _tags(self, node: YamlNode | None) -> tuple[str, ...]:
        def tag(each: YamlNode) -> str:
            text = self.take_text(each)
            return text if _TAG.fullmatch(text) else self.report(each, "a tag looks like answer:task, tool:* or *", "")

        return tuple(self.take_list(node, tag))

    def _redact_kind(self, node: YamlNode) -> str:
        text = self.take_text(node)
        known = {*self._known, *KINDS_BY_NATURE, "*"}
        if text not in known:
            meant = find_nearest(text, known, 1)
            hint = f"; did you mean {meant[0]}?" if meant else ""
            self.report(node, f"there is no detector for {text!r}{hint}", None)
        return text

    def _classification(self, node: YamlNode) -> Classification:
        return cast("Classification", self.take_one_of(node, CLASSIFICATIONS, "secret"))

    def _ttl(self, node: YamlNode) -> int | None:
        found = re.fullmatch(r"(\d{1,6})([smhdw])", node.written)
        if node.written in ("inf", ".inf"):
            return None
        if found is None or int(found[1]) == 0:
            return self.report(node, "a duration looks like 30m, 12h, 7d, 4w or inf", DAY)
        return int(found[1]) * _LENGTHS[found[2]]
