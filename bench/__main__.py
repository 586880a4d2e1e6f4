"""`python -m bench`: measure, print the table, keep the results. A missed goal is printed, never an error."""

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from . import (
    calls,
    cold,
    items,
    machine,
    memory,
    oauth,
    outside,
    redaction,
    report,
    search,
    services,
    sizes,
    upstream,
    web,
    writes,
)
from .child import Failed
from .peers import HERE, NAMES, Peers, prepare
from .plan import QUICK, Plan

PARTS: dict[str, Callable[[Peers, Plan], list[report.Row]]] = {
    "cold": cold.measure,
    "memory": memory.measure,
    "stdio": calls.measure,
    "http": web.measure,
    "oauth": oauth.measure,
    "writes": writes.measure,
    "redaction": redaction.measure,
    "outside": outside.measure,
    "services": services.measure,
    "upstream": upstream.measure,
    "sizes": sizes.measure,
    "items": items.measure,
    "search": search.measure,
}


def _words(allowed: tuple[str, ...]) -> Callable[[str], list[str]]:
    def parse(text: str) -> list[str]:
        words = [word.strip() for word in text.split(",")]
        unknown = set(words) - set(allowed)
        if unknown:
            raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: not one of {', '.join(allowed)}")
        return words

    return parse


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--only", type=_words(tuple(PARTS)), default=list(PARTS), help="parts: " + ",".join(PARTS))
    parser.add_argument("--peers", type=_words(NAMES), default=list(NAMES), help="servers: " + ",".join(NAMES))
    parser.add_argument("--folder", type=Path, help="where databases are made (a real disk; default: a temporary one)")
    parser.add_argument("--no-save", action="store_true", help="print the table, write no file")
    return parser.parse_args()


def main() -> None:
    options = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that a run that is ended ends its servers too
    begin, load_before = time.monotonic(), machine.load()
    with tempfile.TemporaryDirectory(prefix="tokonoma-bench-", dir=options.folder) as name:
        peers = prepare(Path(name), options.peers)
        rows, failed = _measured(options.only, peers, QUICK if options.quick else Plan())
        described = machine.describe(Path(name))
    commit, changed = machine.commit()
    facts = {
        "date": machine.today(),
        "commit": commit,
        "source_changed_since": changed,
        "quick": options.quick,
        "seconds": round(time.monotonic() - begin),
        "machine": described,
        "load_average": {"before": load_before, "after": machine.load()},
    }
    print(report.table(rows))
    if load_before > 0.75 * described["cores"]:
        print("\nothers were at work: only ratios of CPU time can be trusted; run it again on a quiet machine")
    missed = [row.what for row in rows if row.ok is False]
    print(f"\n{len(missed)} goals missed" + (": " + "; ".join(missed) if missed else ""))
    whole = not failed and len(options.only) == len(PARTS) and len(options.peers) == len(NAMES)
    if whole and not options.no_save:
        target = HERE / "results" / f"{facts['date']}-{commit}{'-quick' if options.quick else ''}.json"
        report.save(target, rows, facts)
        print(f"kept in {target.relative_to(HERE.parent)}")
    sys.exit(1 if failed else 0)


def _measured(parts: list[str], peers: Peers, plan: Plan) -> tuple[list[report.Row], bool]:
    """The rows of all parts; a part that fails is told of, and the others still count."""
    rows: list[report.Row] = []
    failed = False
    for part in parts:
        print(f"measuring: {part}", file=sys.stderr, flush=True)
        try:
            rows += PARTS[part](peers, plan)
        except (Failed, OSError) as error:
            print(f"{part} could not be measured: {error}", file=sys.stderr, flush=True)
            failed = True
    return rows, failed


if __name__ == "__main__":
    main()
