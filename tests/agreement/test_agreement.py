"""Our statistics and those of scipy, statsmodels, rliable and AlpacaEval on the same random inputs (`--group agreement`)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from heredity._core.ids import generator
from heredity.analysis import paired
from heredity.analysis import statistics as stats
from heredity.analysis.samples import SHARE, wilson
from heredity.analysis.statistics import student_p, student_quantile
from heredity.analysis.suite_results import THRESHOLDS, profile
from heredity.protocols.post_training.analysis.metrics import length_controlled

INPUTS = range(200)


def draw(index: int, *shape: int) -> np.ndarray:
    rng = generator(index, "agreement")
    return rng.choice([rng.normal, rng.lognormal, rng.gumbel])(rng.normal(), 1.0, shape)


def test_students_t_agrees_with_scipy() -> None:
    t = pytest.importorskip("scipy.stats").t
    rng = generator(0, "student")
    for _ in INPUTS:
        p, freedom, statistic = rng.uniform(0.5, 0.9999), rng.uniform(1.0, 299.0), rng.normal(0.0, 4.0)
        assert student_quantile(p, freedom) == pytest.approx(t.ppf(p, freedom), rel=1e-4, abs=1e-9)
        assert student_p(statistic, freedom) == pytest.approx(2 * t.sf(abs(statistic), freedom), rel=1e-6)


def test_t_intervals_and_p_values_of_differences_agree_with_scipy() -> None:
    scipy = pytest.importorskip("scipy.stats")
    for index in INPUTS:
        gaps = draw(index, 6 + index % 30)
        compared, theirs = paired.compare_cases([gaps[None, :]]), scipy.ttest_1samp(gaps, 0.0)
        assert compared.p == pytest.approx(theirs.pvalue, rel=1e-6)
        assert compared.interval == pytest.approx(tuple(theirs.confidence_interval()), rel=1e-4, abs=1e-6)


def test_intervals_of_means_hold_those_of_students_t_and_of_the_bootstrap_t_of_arch() -> None:
    scipy, bootstrap = pytest.importorskip("scipy.stats"), pytest.importorskip("arch.bootstrap")
    for index in INPUTS:
        values = draw(index, 12 + index % 30)
        error = values.std(ddof=1) / np.sqrt(values.size)
        low, high = stats.mean_interval(values)
        student = scipy.t.interval(0.95, values.size - 1, values.mean(), error)
        assert low <= student[0] + 1e-6
        assert student[1] <= high + 1e-6
        if index < 20:
            drawn = bootstrap.IIDBootstrap(values, seed=index)
            theirs = drawn.conf_int(
                np.mean, 1000, method="studentized", std_err_func=lambda m, x: x.std(ddof=1) / np.sqrt(x.size)
            ).ravel()
            hull = min(theirs[0], student[0]), max(theirs[1], student[1])
            assert (low, high) == pytest.approx(hull, abs=0.6 * error)


def test_holms_correction_and_wilsons_interval_agree_with_statsmodels() -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    rng = generator(0, "holm")
    for _ in INPUTS:
        p = rng.random(rng.integers(1, 30)) ** 3
        assert paired.holm(p.tolist()) == pytest.approx(multitest.multipletests(p, method="holm")[1])
        n = int(rng.integers(1, 60))
        hits = int(rng.integers(0, n + 1))
        assert wilson(hits, n) == pytest.approx(proportion.proportion_confint(hits, n, method="wilson"), abs=1e-9)


def test_intervals_of_shares_that_all_agree_are_those_of_clopper_and_pearson() -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    for n in range(2, 202):
        for hits in (0, n):
            theirs = proportion.proportion_confint(hits, n, method="beta")
            assert stats.mean_interval([float(hits > 0)] * n, bounds=SHARE) == pytest.approx(theirs, abs=1e-9)


def test_interquartile_means_profiles_and_probabilities_of_improvement_are_those_of_rliable() -> None:
    metrics, library = pytest.importorskip("rliable.metrics"), pytest.importorskip("rliable.library")
    for index in INPUTS:
        rng = generator(index, "rliable")
        runs, tasks = int(rng.integers(6, 12)), int(rng.integers(1, 6))
        a, b = np.round(rng.random((2, runs, tasks)), 2)
        assert stats.interquartile_mean(a) == pytest.approx(metrics.aggregate_iqm(a))
        ours = stats.probability_of_improvement(list(a.T), list(b.T)).mean
        assert ours == pytest.approx(metrics.probability_of_improvement(a, b))
        assert profile(a.ravel()) == pytest.approx(list(library.score_distributions(a, np.array(THRESHOLDS))))


def test_interquartile_means_of_the_same_resamples_are_those_of_rliable() -> None:
    metrics = pytest.importorskip("rliable.metrics")
    for index in range(4):
        rng = generator(index, "resamples")
        scores, drawn = rng.random((8, 3)), rng.integers(0, 8, (50, 8, 3))
        resamples = np.take_along_axis(scores[None], drawn, axis=1)
        theirs = [metrics.aggregate_iqm(resample) for resample in resamples]
        assert stats.interquartile_means(resamples.reshape(50, -1)) == pytest.approx(theirs)


def test_win_rates_agree_with_alpaca_eval() -> None:
    winrate = pytest.importorskip("alpaca_eval.metrics.winrate", exc_type=ImportError)
    for index in INPUTS:
        won = generator(index, "wins").choice([0.0, 0.5, 1.0], 40)
        theirs = winrate.get_winrate([{"preference": 1.0 + w if w != 0.5 else 1.5} for w in won])["win_rate"]
        assert 100.0 * won.mean() == pytest.approx(theirs)


def test_win_rates_at_equal_length_agree_with_alpaca_eval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own code fits the formula without each instruction's difficulty, unpenalised; the file it would fetch is ours."""
    glm = pytest.importorskip("alpaca_eval.metrics.glm_winrate", exc_type=ImportError)
    frame = pytest.importorskip("pandas").DataFrame
    count = 120
    file = tmp_path / "df_gamed.csv"
    frame({"model": "m", "index": range(count), "instruction_difficulty": 0.0}).to_csv(file, index=False)
    monkeypatch.setattr(glm, "hf_hub_download", lambda **_: str(file))
    fit = {"n_splits": 0, "C": 1e6, "penalty": "l2", "tol": 1e-10, "max_iter": 10_000}
    for index in INPUTS:
        rng = generator(index, "lengths")
        lengths, references = rng.integers(50, 900, (2, count))
        excess = np.tanh((lengths - references) / (lengths - references).std())
        won = (rng.random(count) < 1.0 / (1.0 + np.exp(-rng.normal() - excess))).astype(float)
        rows = {
            "preference": 1.0 + won,
            "index": range(count),
            "generator_1": "reference",
            "generator_2": "model",
            "output_1": ["x" * n for n in references],
            "output_2": ["x" * n for n in lengths],
        }
        theirs = glm.get_length_controlled_winrate(
            frame(rows),
            save_weights_dir=None,
            is_add_glm_preference_inplace=False,
            is_warn_extreme_changes=False,
            glm_info={**glm.GLM_INFO["length_controlled_minimal"], "kwargs": fit},
        )
        assert 100.0 * won.mean() == pytest.approx(theirs["win_rate"])
        ours = length_controlled(won, lengths, references)
        assert ours == pytest.approx(theirs["length_controlled_winrate"] / 100.0, abs=2e-4)


def test_win_rates_at_equal_length_agree_with_the_fit_of_statsmodels() -> None:
    api = pytest.importorskip("statsmodels.api")
    for index in INPUTS:
        rng = generator(index, "lengths")
        lengths, references = rng.normal(500.0, 100.0, (2, 200))
        excess = np.tanh((lengths - references) / (lengths - references).std())
        won = (rng.random(200) < 1.0 / (1.0 + np.exp(-rng.normal() - excess))).astype(float)
        fitted = api.GLM(won, api.add_constant(excess), family=api.families.Binomial()).fit()
        quality = 1.0 / (1.0 + np.exp(-fitted.params[0]))
        assert length_controlled(won, lengths, references) == pytest.approx(quality, abs=2e-4)
