"""AIME 2024 and 2025 (American Invitational Mathematics Examination): 30 problems each, whose answers are integers from 0 to 999.

By the questions' digests 10 train, 5 validate and 15 are held out: too few for small differences, which intervals will show.
"""

from __future__ import annotations

from dataclasses import replace

from heredity.tasks.questions.benchmarks import find
from heredity.tasks.questions.files import read_pool
from heredity.tasks.questions.pools import Pool, shared_out

NAMES = {"questions/aime24": "aime24", "questions/aime25": "aime25"}
_SHARES = {"train": 10 / 30, "validation": 5 / 30, "heldout": 15 / 30}


def read_aime(name: str) -> Pool:
    """Read the problems of a year, `"aime24"` or `"aime25"`.

    Raises:
        ConfigError: if the file is missing or wrong.
    """
    pool = read_pool(find(f"aime/{name}.jsonl"), {"verifier": "integer", "minimum": 0, "maximum": 999})
    questions = [question for split in pool.splits.values() for question in split]
    return replace(
        pool,
        splits=shared_out(questions, _SHARES),
        description=f"# AIME 20{name[-2:]}\n\nCompetition problems; the answer is an integer from 0 to 999.\n",
        hidden="public benchmark",
        family="math",
    )
