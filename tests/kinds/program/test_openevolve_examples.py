"""The examples of OpenEvolve, unchanged, where a copy of its repository and an environment with their packages are named.

HEREDITY_OPENEVOLVE  the repository's folder
HEREDITY_SCIENCE     the interpreter of an environment with scipy, matplotlib, scikit-learn, pykalman and PyWavelets
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heredity.cli.main import app
from heredity.sandbox.bubblewrap_root import available

EXAMPLES, PYTHON = os.environ.get("HEREDITY_OPENEVOLVE", ""), os.environ.get("HEREDITY_SCIENCE", "")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(available() is not None, reason="needs bubblewrap"),
    pytest.mark.skipif(not EXAMPLES, reason="HEREDITY_OPENEVOLVE names no folder"),
]

PLAIN = [
    "function_minimization",
    "k_module_problem",
    "alphaevolve_math_problems/circle_packing_rect",
    "alphaevolve_math_problems/heilbronn_triangle",
    "alphaevolve_math_problems/hexagon_packing/11",
    "alphaevolve_math_problems/kissing_number",
]
SCIENTIFIC = [
    "circle_packing",
    "circle_packing_with_artifacts",
    "signal_processing",
    "alphaevolve_math_problems/heilbronn_convex/13",
    "alphaevolve_math_problems/minimizing_max_min_dist/2",
]


@pytest.mark.parametrize("name", [*PLAIN, *SCIENTIFIC])
def test_an_example_runs_unchanged(name: str, tmp_path: Path) -> None:
    if name in SCIENTIFIC and not PYTHON:
        pytest.skip("HEREDITY_SCIENCE names no interpreter")
    folder = Path(EXAMPLES) / "examples" / name
    words = [
        "evolve",
        str(folder / "initial_program.py"),
        "--scorer",
        str(folder / "evaluator.py"),
        "--evaluations",
        "2",
    ]
    given = ["--python", PYTHON] if PYTHON else []
    ran = CliRunner().invoke(app, [*words, *given, "--seconds", "120", "--out", str(tmp_path / "out"), "--json"])
    assert ran.exit_code == 0, f"{ran.exception}\n{ran.output}"
    result = json.loads(ran.stdout)
    assert result["start"] is not None
    assert (tmp_path / "out" / "best" / "initial_program.py").is_file()
