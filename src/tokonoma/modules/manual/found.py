"""What a search found, as it is now: for modules that use it without showing it."""

from tokonoma.core.desk import Desk, FoundPlace
from tokonoma.core.errors import Missing
from tokonoma.modules.manual.model import section_address
from tokonoma.modules.manual.refs import ManualReader
from tokonoma.modules.manual.traces import load_trace, section_key


def list_found(desk: Desk, trace_id: str) -> list[FoundPlace] | None:
    """What a search found, where it is now: sections, and what is below a heading that names the topic."""
    try:
        trace = load_trace(desk, trace_id)
    except Missing:
        return None
    reader, found = ManualReader(desk), list[FoundPlace]()
    for rank, hit in enumerate(trace.candidates):
        key, ref = section_key(hit), hit.get("ref")
        if key is None or ref is None:
            continue
        state, section = reader.find_section(key, ref.get("hash", ""))
        signals, score = tuple(hit.get("signals", ())), hit.get("score", 0.0)
        if section is None or state == "changed":
            file, problem = section_address(*key[:2]), "missing" if section is None else "changed"
            found.append(FoundPlace(f"{file}#L{key[2]}", file, (key[2], key[2]), signals, score, rank, problem))
            continue
        parts = [section]
        if "heading" in signals:
            positions = reader.library.positions(*section.file)
            inside = map(reader.library.corpus.sections.__getitem__, positions)
            parts = [each for each in inside if section.line <= each.line <= section.end]
        file = section_address(*section.file)
        for each in parts:
            lines = each.line, each.own_end
            found.append(FoundPlace(f"{file}#L{lines[0]}-L{lines[1]}", file, lines, signals, score, rank))
    return found
