"""The thresholds move by a step a day, within bounds, and go back when things got worse."""

from tokonoma.modules.manual.judge import WINDOW, PastRun, adjust_thresholds, is_worse
from tokonoma.modules.manual.model import Thresholds


def runs(count: int, cut: int = 0, used: int = 0, hit: int = 0) -> list[PastRun]:
    return [PastRun(place < cut, used, hit) for place in range(count)]


def test_many_cut_offs_lower_and_few_raise():
    assert adjust_thresholds(Thresholds(3, 0.80), runs(10, cut=3), 5) == Thresholds(2, 0.77, 5)
    assert adjust_thresholds(Thresholds(3, 0.80), runs(10), 5) == Thresholds(4, 0.83, 5)
    assert adjust_thresholds(Thresholds(3, 0.80), runs(10, cut=1), 5) == Thresholds(3, 0.80, 5)


def test_the_bounds_hold():
    low, high = Thresholds(2, 0.70), Thresholds(6, 0.90)
    assert adjust_thresholds(low, runs(10, cut=10), 1) == Thresholds(2, 0.70, 1)
    assert adjust_thresholds(high, runs(10), 1) == Thresholds(6, 0.90, 1)


def test_a_day_without_searches_moves_nothing():
    assert adjust_thresholds(Thresholds(4, 0.83, 7), [], 9) == Thresholds(4, 0.83, 7)


def test_worse_by_recall_or_by_cut_offs():
    fine = runs(WINDOW, used=10, hit=10)
    assert is_worse(runs(WINDOW, used=100, hit=97), fine)
    assert not is_worse(runs(WINDOW, used=100, hit=98), fine)
    assert is_worse(runs(WINDOW, cut=5, used=10, hit=10), fine)
    assert not is_worse(runs(WINDOW - 1, cut=50), fine)


def test_searches_whose_results_were_not_used_say_nothing_of_recall():
    assert not is_worse(runs(WINDOW, used=0), runs(WINDOW, used=10, hit=10))
