from __future__ import annotations

from tests.experiments.harness_runs import config

from heredity.experiments.config import cells
from heredity.protocols.harness_evolution.judge import terms_of


def test_a_run_is_not_judged_again_under_the_model_that_it_evolved_under() -> None:
    models = ["offline/rule-follower", "offline/other"]
    (cell,) = cells(config(transfer={"models": models}))
    terms = terms_of(cell.config, cell.seed)
    assert terms.models == ("offline/other",)
