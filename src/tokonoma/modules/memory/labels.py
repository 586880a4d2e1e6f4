"""The class of memos and relations, as the policy wants it."""

from collections.abc import Mapping

from tokonoma.core.desk import CLASSIFICATIONS, Classification, Statements, parse_address

_RANK = "case {} " + " ".join(f"when '{label}' then {place}" for place, label in enumerate(CLASSIFICATIONS)) + " end"
# A relation's own reason may have made it stricter than its ends: it is never made less strict than it was.
_RELATIONS = f"""update memo_relation set label = :label where (source = :id or target = :id)
and {_RANK.format("label")} < :rank"""  # noqa: S608 - our own words


def reclassify(statements: Statements, labels: Mapping[str, Classification]) -> None:
    """Address → class, of memos; the relations that touch them are at least as strict."""
    memos = [{"id": parse_address(address)[1], "label": label} for address, label in labels.items()]
    statements.run_many("update memo set label = :label where id = :id", memos)
    ranks = [CLASSIFICATIONS.index(label) for label in labels.values()]
    statements.run_many(_RELATIONS, [{**memo, "rank": rank} for memo, rank in zip(memos, ranks, strict=True)])
