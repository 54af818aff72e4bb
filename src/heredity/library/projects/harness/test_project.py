"""The harness can be read, and its middleware stops the third of three equal calls and no other."""

import unittest
import importlib.util
import sys
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

from heredity.resources.assembly import candidate_from_folder

# What harnesses import; in the sandbox it is there by itself.
sys.path.append(str(files("heredity") / "sandbox" / "guest"))

HARNESS = Path(__file__).with_name("harness")
MIDDLEWARE = HARNESS / "agent" / "solver" / "middleware" / "10_stop_repeats.py"


class Harness(unittest.TestCase):
    def test_it_is_a_candidate(self) -> None:
        assert {"agent/solver", "prompt/system", "memory/notes"} <= set(candidate_from_folder(HARNESS).parts)

    def test_the_third_equal_call_is_stopped(self) -> None:
        spec = importlib.util.spec_from_file_location("stop_repeats", MIDDLEWARE)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        guard, call = module.StopRepeats(), SimpleNamespace(name="shell", arguments={"command": "ls"})
        assert [guard.before_tool(call) is call for _ in range(3)] == [True, True, False]
