"""The reference agents: no step of training is begun that would end after their time, and a route has all that it imports."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import pytest

import heredity.library

FOLDER = Path(heredity.library.__path__[0]) / "agents" / "posttraining"


@pytest.mark.parametrize(
    ("seconds", "steps"), [((1.0, 1.0, 1.0, 1.0), 4), ((20.0, 20.0, 20.0), 3), ((20.0, 60.0, 20.0), 2), ((101.0,), 1)]
)
def test_no_step_is_begun_that_would_end_too_late(
    seconds: tuple[float, ...], steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [5.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    spec = importlib.util.spec_from_file_location("pace_of_agents", FOLDER / "pace.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    pace, taken = module.Pace(105.0), 0
    while taken < len(seconds) and pace.goes_on():
        now[0] += seconds[taken]
        taken += 1
    assert taken == steps


ROUTES = re.findall(r"^  ([a-z-]+)\) parts=\"(.*)\" ;;$", (FOLDER / "start.sh").read_text(), re.MULTILINE)


@pytest.mark.parametrize(("route", "parts"), ROUTES)
def test_what_a_route_imports_is_copied_with_it(route: str, parts: str) -> None:
    own = {path.stem for path in FOLDER.glob("*.py")}
    copied = {*parts.split(), f"route_{route.replace('-', '_')}"}
    imported = {
        node.module
        for name in copied
        for node in ast.walk(ast.parse((FOLDER / f"{name}.py").read_text()))
        if isinstance(node, ast.ImportFrom)
    }
    assert imported & own <= copied
    assert len(ROUTES) == len([*FOLDER.glob("route_*.py")])
