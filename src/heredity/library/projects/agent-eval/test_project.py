"""Each task's program gives an answer that its scorer accepts, and no scorer accepts nonsense."""

import importlib.util
import unittest
from pathlib import Path

TASKS = sorted(path for path in Path(__file__).with_name("tasks").iterdir() if path.is_dir())


def load(path):
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Tasks(unittest.TestCase):
    def test_what_a_program_answers_is_scored(self) -> None:
        assert len(TASKS) > 1
        for task in TASKS:
            (score,) = load(task / "scorer.py").verify(load(task / "program.py").solve()).values()
            assert 0 < score < 1, task

    def test_nonsense_is_refused(self) -> None:
        for task in TASKS:
            for answer in (None, [], ["much"], [float("nan")] * 10):
                try:
                    load(task / "scorer.py").verify(answer)
                except ValueError:
                    continue
                raise AssertionError(f"{task.name} accepts {answer}")
