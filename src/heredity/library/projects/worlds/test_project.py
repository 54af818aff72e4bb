"""Every level can be played to its bound, and not beyond it."""

import subprocess
import sys
import unittest
from pathlib import Path

WORLD = Path(__file__).with_name("lantern")


class World(unittest.TestCase):
    def test_the_world_keeps_what_it_promises(self) -> None:
        # Its progress goes to the terminal: many levels take a while.
        verified = subprocess.run(
            [sys.executable, "-m", "heredity", "worlds", "verify", str(WORLD)],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        assert verified.returncode == 0, verified.stdout
