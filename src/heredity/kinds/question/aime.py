"""AIME 2024 and 2025 (American Invitational Mathematics Examination): 30 problems each, with integer answers from 0 to 999.

By the questions' digests, 10 problems are for training, 5 for validation and 15 are held out: too few for small
differences, as the intervals will show.
"""

from __future__ import annotations

from dataclasses import replace

from heredity.engine.questions.pools import Pool, shared_out
from heredity.kinds.question.benchmarks import find
from heredity.kinds.question.files import read_pool

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
