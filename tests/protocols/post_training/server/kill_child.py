"""A run that its parent kills: `python kill_child.py ROOT SCRIPT`. Grading is slow in it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[4]))

from tests.protocols.post_training.server.tiny import LONG, Rig

if __name__ == "__main__":
    rig = Rig(Path(sys.argv[1]), LONG)
    rig.save(a=0.5, b=0.75)
    rig.runner.delay_s = 0.5
    asyncio.run(rig.train(sys.argv[2]))
