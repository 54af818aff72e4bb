"""The command line as a module, where its script is not on the path."""

from __future__ import annotations

import subprocess
import sys

from heredity import __version__


def test_the_package_runs_as_a_module_under_its_own_name() -> None:
    module = [sys.executable, "-m", "heredity"]
    done = subprocess.run([*module, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"heredity {__version__}\n"
    wrong = subprocess.run([*module, "rum"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "Usage: python -m heredity" in wrong.stderr
