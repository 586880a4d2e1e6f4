"""The mutation gate: a changed line that protects something must make a test fail.

`make soak` tries every mutation of the list, `make test` a sixteenth of them: others for every state of the code, and
the same ones again for the same state.
"""

import ast
import hashlib
import os

import pytest
from mutations.mutant import LIST, ROOT, SOURCE, Mutation, load_mutations, run_mutant

MUTATIONS = load_mutations()
SHARE = 16


def choose_share() -> int:
    """By what the changed files and the list say."""
    files = sorted({SOURCE / each.file for each in MUTATIONS})
    texts = (path.read_bytes() for path in [*files, LIST])
    return int(hashlib.sha256(b"".join(texts)).hexdigest(), 16) % SHARE


def test_the_list_is_long_enough():
    assert len(MUTATIONS) >= 80
    assert len({(each.file, each.old, each.new) for each in MUTATIONS}) == len(MUTATIONS)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_every_mutation_fits_the_code(mutation: Mutation):
    text = (SOURCE / mutation.file).read_text(encoding="utf-8")
    assert text.count(mutation.old) == 1, "the line has changed: bring the mutation up to date"
    ast.parse(text.replace(mutation.old, mutation.new))
    for test in mutation.tests:
        assert (ROOT / test.partition("::")[0]).exists()


@pytest.mark.parametrize("number", range(-(-len(MUTATIONS) // SHARE)))
def test_a_share_of_the_mutations_is_noticed(number: int):
    mutation = MUTATIONS[(number * SHARE + choose_share()) % len(MUTATIONS)]
    outcome = run_mutant(mutation)
    assert outcome.noticed, f"{mutation}\n{outcome.report}"


@pytest.mark.soak
@pytest.mark.skipif(os.environ.get("TOKONOMA_SOAK") != "1", reason="the full count: make soak")
@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_every_mutation_is_noticed(mutation: Mutation):
    outcome = run_mutant(mutation)
    assert outcome.noticed, outcome.report
