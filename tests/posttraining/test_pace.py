"""The reference agents begin no step of training that would end after their time."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import heredity.library

FILE = Path(heredity.library.__path__[0]) / "agents" / "posttraining" / "pace.py"


@pytest.mark.parametrize(
    ("seconds", "steps"), [((1.0, 1.0, 1.0, 1.0), 4), ((20.0, 20.0, 20.0), 3), ((20.0, 60.0, 20.0), 2), ((101.0,), 1)]
)
def test_no_step_is_begun_that_would_end_too_late(
    seconds: tuple[float, ...], steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [5.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    spec = importlib.util.spec_from_file_location("pace_of_agents", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    pace, taken = module.Pace(105.0), 0
    while taken < len(seconds) and pace.goes_on():
        now[0] += seconds[taken]
        taken += 1
    assert taken == steps
