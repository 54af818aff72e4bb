"""Every level can be played to its bound, and not beyond it."""

import unittest
import json
import subprocess
import sys
from pathlib import Path

WORLD = Path(__file__).with_name("lantern")


class World(unittest.TestCase):
    def test_the_world_keeps_what_it_promises(self) -> None:
        verified = subprocess.run(
            [sys.executable, "-m", "heredity", "worlds", "verify", str(WORLD), "--json"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert verified.returncode == 0, verified.stderr
        assert json.loads(verified.stdout)
