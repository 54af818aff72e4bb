"""What a user of the wheel gets: everything of `src/heredity`, its content too, with executable bits."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
@pytest.mark.network
def test_the_wheel_holds_every_file_of_the_package_as_it_is(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, timeout=600)
    [wheel] = tmp_path.glob("heredity-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        inside = {entry.filename: bool(entry.external_attr >> 16 & 0o111) for entry in archive.infolist()}
    paths = (
        path for path in (ROOT / "src" / "heredity").rglob("*") if path.is_file() and "__pycache__" not in path.parts
    )
    outside = {str(path.relative_to(ROOT / "src")): bool(path.stat().st_mode & 0o111) for path in paths}
    assert outside.items() <= inside.items()
    assert {"heredity/library/suites/demo.toml", "heredity/library/tasks/containers/splits.toml"} <= inside.keys()
