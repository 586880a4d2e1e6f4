"""What all pages of claims share: their values in both languages, filters, and the parts of a score as bars."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tokonoma.server.web.pages.request import PageRequest, PageResponse
from tokonoma.server.web.pages.words.claim_values import name_claim_values

CLAIMS = "/admin/claims"
KINDS = ("fact", "preference", "task", "policy_hint")
SCOPES = ("session", "project", "principle")
CLASSES = ("public", "internal", "pii", "secret")
SIGNALS = ("helpful", "harmful", "outdated", "duplicate")
ENTITY_TYPES = ("Actor", "Artifact", "Event", "Concept")
_SHOWN_PARTS = ("text", "vector", "recency", "confidence", "quality")


class ScorePart(NamedTuple):
    name: str
    value: float
    share: float  # of a bar, from 0 to 1


def render_claims(request: PageRequest, template: str, status: int = 200, **values: Any) -> PageResponse:
    known = {
        "names": name_claim_values(request.language),
        "problem": "",
        "list_parts": list_parts,
        "kinds": KINDS,
        "scopes": SCOPES,
        "classes": CLASSES,
    }
    return PageResponse(f"claims/{template}", {**known, **values}, status)


def locate_claim(claim_id: str) -> str:
    return f"{CLAIMS}/{claim_id}"


def choose_filter(request: PageRequest, name: str, allowed: tuple[str, ...]) -> str:
    given = request.get_parameter(name)
    return given if given in allowed else ""


def list_parts(item: Mapping[str, Any]) -> list[ScorePart]:
    """The score and what it was made of. Utility has no upper end; a bar is full at 1."""
    scores: Mapping[str, float] = item.get("scores", {})
    parts = [ScorePart("score", item["score"], item["score"])]
    parts += [ScorePart(name, scores[name], scores[name]) for name in _SHOWN_PARTS if name in scores]
    if "utility" in scores:
        parts.append(ScorePart("utility", scores["utility"], max(0.0, scores["utility"])))
    return parts
