"""What may be stored of texts that are not the arguments of a call: imported records, and files after an edit. Pure."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from tokonoma.core.errors import Denied
from tokonoma.core.policy import UNRESTRICTED_VIEW, ScreenedRecord
from tokonoma.policy.active import ActivePolicy
from tokonoma.policy.detections import Detection, mask_text

_MOST_PLACES = 20


def screen_record(policy: ActivePolicy, fields: Mapping[str, Any]) -> ScreenedRecord:
    """A record as the policy lets it be stored, for whoever brings it: the owner too."""
    screened = policy.screen_arguments(UNRESTRICTED_VIEW, "", fields)
    if screened.refusal is not None:
        refused = screened.refusal.details
        return ScreenedRecord(fields, refused=tuple(refused["kinds"]), places=tuple(refused["fields"]))
    kinds = {each.partition(":")[0] for each in screened.detections}
    natures = {nature for nature, action in policy.rules.writes.items() if action == "redact"}
    redacted = sorted(kind for kind in kinds if policy.scanner.natures[kind] in natures)
    return ScreenedRecord(screened.value, redacted=tuple(redacted))


def screen_edit(policy: ActivePolicy, name: str, before: str, after: str) -> str:
    """The text after an edit, as it may be stored; Denied if the edit completes something that must not be. What was
    found in the text before does not count: it must not keep anyone from editing another place."""
    new = _find_new(policy, before, after)
    actions = policy.rules.writes
    refused = [one for one in new if actions[one.nature] == "refuse"]
    if refused:
        places = [{"kind": one.kind, "line": after.count("\n", 0, one.start) + 1} for one in refused[:_MOST_PLACES]]
        listed = ", ".join(f"{place['kind']} in line {place['line']}" for place in places)
        raise Denied(
            f"{name} would contain data that the policy does not allow to be stored: {listed}. "
            "Remove it and try again. Nothing was changed.",
            reason="secret",
            kinds=sorted({one.kind for one in refused}),
            places=places,
            policy_version=policy.version,
        )
    redacted = [one for one in new if actions[one.nature] == "redact"]
    return mask_text(after, redacted) if redacted else after


def _find_new(policy: ActivePolicy, before: str, after: str) -> list[Detection]:
    """What was found after an edit, less what was found before it, by kind and text."""
    found = [one for one in policy.scanner.scan_appended(before, after) if policy.rules.writes[one.nature] != "allow"]
    if not found:
        return []
    known = Counter((one.kind, before[one.start : one.end].strip()) for one in policy.scanner.scan(before))
    new: list[Detection] = []
    for one in found:
        text = (one.kind, after[one.start : one.end].strip())
        known[text] -= 1
        if known[text] < 0:
            new.append(one)
    return new
