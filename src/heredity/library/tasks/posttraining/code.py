"""Programming problems as a post-training task: `posttraining/code/all?difficulty=easy`, with the options of `code/…`.

A checkpoint is prompted like any solver of these tasksets, and its programs are judged on hidden cases. Problems of the
split `train` come with accepted solutions; those of `validation` are graded, those of `heldout` are held out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from heredity._core.errors import ConfigError
from heredity._core.outside import jsonl
from heredity.engine.actor import Solving
from heredity.kinds.checkpoint.tasks.contract import SMOLLM2, TRAIN_FILE, PostTrainingTask, plain_solver
from heredity.kinds.code.problem import problem
from heredity.kinds.code.taskset import SOURCE, CodeTaskset, presentation_of
from heredity.tasks import Task, TasksetInfo

_TOKENS = 600
_VIEW = 40
"""Most problems of a view by default."""

_DESCRIPTION = """\
# Programs

The model is given a programming problem, and replies with a whole program in a block of code, beginning as shown. The program is
compiled and run on hidden cases: {metric}.

- `data/train.jsonl`: accepted programs, with `prompt` (what the model is asked), `completion`, and the `problem` and `language` of
  each. There are several programs to a problem.

A submission answers {graded} other problems, greedily, with at most {tokens} tokens each; its score is the mean over them.
"""


def code(rest: str) -> PostTrainingTask:
    """Return the task of a taskset of programming problems.

    Args:
        rest: the taskset without `code/`: `"all"`, `"all?difficulty=easy&language=cpp"`, or the path of a file.

    Raises:
        UnknownNameError: if the taskset or an option is unknown.
        ConfigError: if it leaves no problem for grading, or none held out.
    """
    problems = SOURCE.taskset(f"code/{rest}")
    if not isinstance(problems, CodeTaskset):
        raise ConfigError(
            f"posttraining/code/{rest} is one problem; name several, such as posttraining/code/all?difficulty=easy"
        )
    sizes, inner = problems.sizes, _Asked(problems)
    if not (sizes["validation"] and sizes["heldout"]):
        raise ConfigError(
            f"posttraining/code/{rest} has {sizes['validation']} tasks to grade with and {sizes['heldout']} that are held out; "
            "take a filter away (heredity code list)"
        )
    graded, heldout = (min(sizes[split], _VIEW) for split in ("validation", "heldout"))
    metric = inner.info.public["metric"]
    return PostTrainingTask(
        name=f"code/{rest}",
        level="L1",
        title="Write programs that a judge accepts",
        description=_DESCRIPTION.format(metric=metric, graded=graded, tokens=_TOKENS),
        base_models=(SMOLLM2,),
        inner=inner,
        solver=plain_solver(),
        solving=Solving(max_turns=1, max_tokens=_TOKENS, temperature=0.0, seconds=3600.0),
        metric="share of cases" if metric.startswith("the share") else "pass@1",
        materials=lambda entropy: {TRAIN_FILE: jsonl(_rows(inner, entropy))},
        graded=graded,
        heldout=heldout,
        structure={"capability": 3, "interaction": 1, "reward": 2, "horizon": 1},
        labels=("stored solutions are public",),
    )


@dataclass(frozen=True)
class _Asked:
    """Problems whose tasks contain the prompt, which identifies an item."""

    problems: CodeTaskset

    @property
    def info(self) -> TasksetInfo:
        """Description of the taskset."""
        return self.problems.info

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw tasks; see `Taskset.draw`."""
        drawn = self.problems.draw(split, count, entropy)
        return tuple(replace(task, spec={**task.spec, "question": presentation_of(task.spec).prompt}) for task in drawn)


def _rows(inner: _Asked, entropy: int) -> Iterator[dict[str, Any]]:
    """Yield the accepted programs of the train problems, each in the form of a model's reply."""
    for task in inner.draw("train", inner.problems.sizes["train"], entropy):
        asked, name, written = (str(task.spec[key]) for key in ("question", "problem", "language"))
        for language, source in problem(name).accepted.values():
            if language.name == written:
                reply = f"```{written}\n{source.rstrip()}\n```"
                yield {"prompt": asked, "completion": reply, "question": asked, "problem": name, "language": written}
