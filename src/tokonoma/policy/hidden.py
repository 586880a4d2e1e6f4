"""Records by their class, without their text: so that the owner can find and forget what the policy hides."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from tokonoma.core.call import OWNER
from tokonoma.core.desk import CLASSIFICATIONS, Classification, Rows, parse_address
from tokonoma.core.module import Module
from tokonoma.policy.active import ActivePolicy

_PAGE = 500
_SELECT = """select id, address, at, changed_at, kinds from document where label = :label and id > :after
order by id limit :most"""


@dataclass(frozen=True, slots=True)
class ClassifiedRecord:
    """`kinds` are what the detectors found in it; `indexed` is false for one in a trash, or superseded."""

    address: str
    module: str
    at: int  # milliseconds; 0 if it is not known
    kinds: str  # joined by spaces
    indexed: bool = True


def list_by_class(
    rows: Rows, classification: Classification, modules: Sequence[Module], policy: ActivePolicy
) -> Iterator[ClassifiedRecord]:
    """Those in the index first, then those that their modules keep outside it."""
    after = 0
    while page := rows.rows(_SELECT, label=classification, after=after, most=_PAGE):
        after = page[-1][0]
        for _, address, at, changed_at, kinds in page:
            yield ClassifiedRecord(address, parse_address(address)[0], at or changed_at, kinds)
    for module in modules:
        last: str | None = None
        while module.unindexed_documents and (documents := module.unindexed_documents(rows, last, _PAGE)):
            last = documents[-1].address
            for each in documents:
                if each.classification == classification:
                    kinds = policy.scan_document(each).kinds
                    yield ClassifiedRecord(each.address, module.name, each.at, kinds, indexed=False)


def count_hidden(rows: Rows, readable: Collection[Classification]) -> int:
    """How many records of the index have another class than these."""
    hidden = [each for each in CLASSIFICATIONS if each not in readable]
    count = "select count(*) from document where label = :label"
    return sum(row[0] for each in hidden if (row := rows.row(count, label=each)) is not None)


def count_hidden_from_owner(rows: Rows, policy: ActivePolicy) -> int:
    return count_hidden(rows, policy.view_for(OWNER).classifications)
