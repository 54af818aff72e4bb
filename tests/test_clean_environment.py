"""Tutorials as somebody new types them: the wheel alone, an ordinary user, a C locale, no terminal, odd folders."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.test_typed_commands import ROOT, TUTORIALS, lines_of

from heredity.sandbox.bubblewrap_root import available

pytestmark = [
    pytest.mark.slow,
    pytest.mark.network,
    pytest.mark.skipif(available() is not None, reason="needs bubblewrap"),
]

NOBODY = 65534
CODES = {
    "heredity doctor --for post-training": 1,
    ("post-training", "heredity run suite.toml --out runs/first"): 2,
}
"""What cannot end with 0 without the extras: training needs torch, and says so."""
README = ("heredity init", "heredity worlds compose", "heredity evolve my-program")
"""Lines of the README that take no more than minutes and no account."""


def interpreter() -> str:
    """Return a Python that any user may start and that can make environments."""
    for path in (Path(sys.base_prefix).resolve() / "bin" / "python3", Path("/usr/bin/python3")):
        # By a shell: what setpriv itself starts may still read what root may.
        look = f"{path} -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))'"
        probe = [*as_nobody(), "bash", "-c", look]
        if path.exists() and subprocess.run(probe, capture_output=True, check=False).returncode == 0:
            return str(path)
    pytest.skip("no Python from 3.11 on is readable for an ordinary user")


def as_nobody() -> list[str]:
    """Return the words by which a command is run as an ordinary user."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """Return a folder of the ordinary user's, with spaces and an umlaut in its name."""
    above = Path(tempfile.mkdtemp(prefix="heredity-clean-"))
    above.chmod(0o755)
    made = above / "Mein Ordner ä"
    made.mkdir()
    if os.geteuid() == 0:
        os.chown(made, NOBODY, NOBODY)
    yield made
    shutil.rmtree(above, ignore_errors=True)


@pytest.fixture(scope="module")
def environment(home: Path) -> Path:
    """Return a new environment with the wheel and `requirements/base.lock`."""
    folder = home.parent / "venv"
    wheels = home.parent / "wheels"
    subprocess.run([interpreter(), "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", str(wheels), str(ROOT)], check=True)
    subprocess.run([*pip, "install", "-r", str(ROOT / "requirements" / "base.lock")], check=True)
    subprocess.run([*pip, "install", "--no-deps", *map(str, wheels.glob("*.whl"))], check=True)
    return folder


def typed_plainly(line: str, folder: Path, environment: Path, home: Path) -> subprocess.CompletedProcess[str]:
    variables = {"LC_ALL": "C", "HOME": str(home), "PATH": f"{environment / 'bin'}:/usr/bin:/bin"}
    return subprocess.run(
        [*as_nobody(), "bash", "-c", line],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


@pytest.mark.parametrize("page", [*TUTORIALS, ROOT / "README.md"], ids=lambda page: page.stem)
def test_a_tutorial_works_for_somebody_new(page: Path, environment: Path, home: Path) -> None:
    folder, wrong = home / page.stem, list[str]()
    folder.mkdir()
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    for line in lines_of(page, "bash"):
        if line.text.startswith("cd "):
            folder = folder / line.text.removeprefix("cd ")
        elif page.stem != "README" or line.text.startswith(README):
            ended = typed_plainly(line.text, folder, environment, home)
            expected = CODES.get(line.text, CODES.get((page.stem, line.text), 0))
            said = ended.stdout + ended.stderr
            if ended.returncode != expected or ("Traceback" in said and "unittest" not in line.text):
                wrong.append(f"{line.where}: {line.text}\nexit code {ended.returncode}\n{said[-2000:]}")
    assert not wrong, "\n".join(wrong)
