"""The RMS calibration error."""

from __future__ import annotations

import math

import pytest

from heredity.analysis.calibration import calibration_error


def test_confidence_that_is_accuracy_has_no_error() -> None:
    assert calibration_error([(0.75, n % 4 != 0) for n in range(400)]) == pytest.approx(0.0)
    assert calibration_error([(1.0, True)] * 3) == 0.0


def test_each_bin_counts_by_its_answers_and_the_last_holds_the_rest() -> None:
    stated = [(0.2, False)] * 100 + [(0.9, True)] * 150
    assert calibration_error(stated) == pytest.approx(math.sqrt(0.4 * 0.2**2 + 0.6 * 0.1**2))
    assert calibration_error(stated[:100]) == pytest.approx(0.2)
    assert calibration_error([(0.9, False)]) == pytest.approx(0.9)


def test_the_order_of_answers_does_not_matter() -> None:
    stated = [(n / 300, n % 3 == 0) for n in range(300)]
    assert calibration_error(stated) == pytest.approx(calibration_error(stated[::-1]))
