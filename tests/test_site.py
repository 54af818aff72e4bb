"""The site is built without a warning, and tutorials do what they say, typed in as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TUTORIALS = sorted(path for path in (ROOT / "docs" / "tutorials").glob("*.md") if path.stem != "index")


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_can_be_typed_in(page: Path, tmp_path: Path) -> None:
    if page.stem == "post-training" and find_spec("torch") is None:
        pytest.skip("needs torch")
    script = "\n".join(re.findall(r"^```bash\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (made,) = tmp_path.iterdir()
    shown, least = ("first/plan.svg", 1_000) if page.stem == "team" else ("runs/first/report.html", 10_000)
    assert (made / shown).stat().st_size > least


def test_every_project_has_a_tutorial() -> None:
    projects = ROOT / "src" / "heredity" / "library" / "projects"
    assert {page.stem for page in TUTORIALS} == {path.parent.name for path in projects.glob("*/README.md")}


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mkdocs") is None, reason="make docs installs mkdocs")
def test_the_site_is_built_without_warnings(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for page in ("commands/heredity-run.html", "reference/heredity.evolution.html", "tutorials/policy.html"):
        assert "<h1" in (tmp_path / page).read_text(encoding="utf-8")
