"""The mutation gate: a changed line that protects something must make a test fail.

`make soak` tries every mutation of the list, `make test` a tenth of them, another one each day.
"""

import ast
import os
import time

import pytest
from mutations.mutant import ROOT, SOURCE, Mutation, load_mutations, run_mutant

MUTATIONS = load_mutations()
SHARE = 10
TODAY = int(time.time() // 86_400) % SHARE


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
def test_a_tenth_of_the_mutations_is_noticed(number: int):
    mutation = MUTATIONS[(number * SHARE + TODAY) % len(MUTATIONS)]
    outcome = run_mutant(mutation)
    assert outcome.noticed, f"{mutation}\n{outcome.report}"


@pytest.mark.soak
@pytest.mark.skipif(os.environ.get("TOKONOMA_SOAK") != "1", reason="the full count: make soak")
@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_every_mutation_is_noticed(mutation: Mutation):
    outcome = run_mutant(mutation)
    assert outcome.noticed, outcome.report
