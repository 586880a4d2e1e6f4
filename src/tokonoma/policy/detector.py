"""A detector: a pattern of RE2's, what a find of it is, and a check in code of what stands around."""

from collections.abc import Callable
from dataclasses import dataclass

from tokonoma.policy.detections import Nature

TextRange = tuple[int, int]
MatchCheck = Callable[[str, int, int], TextRange | None]
"""folded text, start, end → what of it is meant; None: nothing"""


@dataclass(frozen=True, slots=True)
class Detector:
    kind: str
    nature: Nature
    pattern: str
    check: MatchCheck | None = None
    group: int = 0  # the part of the match that is the find
