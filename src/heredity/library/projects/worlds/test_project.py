"""Every level can be played to its bound, and not beyond it."""

import unittest
import json
import subprocess
import sys
from pathlib import Path

WORLD = Path(__file__).with_name("lantern")


class World(unittest.TestCase):
    def test_the_world_keeps_what_it_promises(self) -> None:
        said = subprocess.run(
            [sys.executable, "-m", "heredity", "worlds", "verify", str(WORLD), "--json"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert said.returncode == 0, said.stderr
        assert json.loads(said.stdout)
