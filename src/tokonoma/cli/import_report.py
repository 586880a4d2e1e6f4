"""What an import has done, for people and for programs; and how far a long one is."""

import sys
import time
from collections.abc import Mapping
from typing import Any

from tokonoma.cli import show
from tokonoma.transfer.ship import ImportTally, RemarkList

_OUTCOMES = ("saved", "changed", "unchanged", "kept", "skipped")
_ALWAYS = ("saved", "changed", "unchanged")
_SHOWN = 50  # remarks of each kind on a screen
_HEADINGS = {
    "skipped": "Skipped",
    "kept": "Left as they are here",
    "notes": "Notes",
}


class ProgressPrinter:
    """Progress on stderr: every second on a terminal, every ten seconds in a log."""

    def __init__(self) -> None:
        self._interval = 1.0 if sys.stderr.isatty() else 10.0
        self._next_at = time.monotonic() + self._interval
        self._line_open = False

    def update(self, tally: ImportTally) -> None:
        self.print_progress(
            f"{pluralize(tally.memos.total(), 'memo')}, {pluralize(tally.relations.total(), 'relation')}"
        )

    def print_progress(self, text: str) -> None:
        if time.monotonic() < self._next_at:
            return
        self._next_at = time.monotonic() + self._interval
        if sys.stderr.isatty():
            sys.stderr.write(f"\r… {text} ")
            sys.stderr.flush()
            self._line_open = True
        else:
            show.print_note(f"… {text}")

    def finish(self) -> None:
        if self._line_open:
            show.print_note("")


def pluralize(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def build_summary(about: Mapping[str, Any], tally: ImportTally, stopped: str) -> dict[str, Any]:
    told = {
        **about,
        "memos": {name: tally.memos[name] for name in _OUTCOMES},
        "relations": {name: tally.relations[name] for name in _OUTCOMES},
    }
    for name in _HEADINGS:
        said: RemarkList = getattr(tally, name)
        told[name] = [{"place": each.place, "why": each.why} for each in said.items]
        told |= {f"{name}_total": said.total} if said.total > len(said.items) else {}
    return told | ({"stopped": stopped} if stopped else {})


def format_report(about: Mapping[str, Any], tally: ImportTally) -> str:
    verb = "Would take in" if about["dry_run"] else "Taken in"
    lines = [f"{verb} from {about['source']} ({about['format']}) into {about['namespace']}:"]
    for name, ended in (("memos", tally.memos), ("relations", tally.relations)):
        some = [outcome for outcome in _OUTCOMES if ended[outcome] or outcome in _ALWAYS]
        told = ", ".join(f"{ended[outcome]} {outcome}" for outcome in some)
        lines.append(f"  {name:<10} {told}")
    for name, heading in _HEADINGS.items():
        said: RemarkList = getattr(tally, name)
        if said.total:
            lines.append(f"{heading} ({said.total}):")
            lines += [f"  {each.place}: {each.why}" for each in said.items[:_SHOWN]]
            lines += [f"  … and {said.total - _SHOWN} more; --json tells them"] if said.total > _SHOWN else []
    return "\n".join(lines)
