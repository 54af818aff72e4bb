"""A user's own tasks: a folder with `config.yaml`, `eval.py` and `data/train.jsonl`, as in Agent² RL-Bench's public release.

- `config.yaml`: `name`; `eval_mode`, `per_sample`; `expose_files`, a list of files of the folder for the agent;
  `description`.
- `eval.py`: `evaluate(question, model_answer, reference_answer, **extra)` returns 0 to 1. It runs in the sandbox.
- `data/train.jsonl`: rows with `question` and `answer`; every other field is an `extra` argument.

There a submission is scored on the same rows that it was trained on. Here the suite's entropy deals the rows out:
half for training, a quarter (at most 150) for grading, and a quarter (at most 200) held out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import digest_json, generator
from heredity._core.outside import jsonl, read_bytes, read_text, yaml_value
from heredity._core.refusals import quoted, reading
from heredity._core.tables import read_rows
from heredity.engine.actor import Solving
from heredity.engine.questions import Question
from heredity.kinds.checkpoint.tasks.contract import TRAIN_FILE, PostTrainingTask, plain_solver
from heredity.kinds.checkpoint.tasks.dealing import DealtTaskset, dealt_info
from heredity.kinds.checkpoint.tasks.scoring import SCORED, scored_question
from heredity.resources import SourceTree

_CONFIG = "config.yaml"
_MODES = ("per_sample",)
_LEAST = 8
_TOKENS = 512


def smith(folder: str) -> PostTrainingTask:
    """Return the task of a folder.

    Args:
        folder: its path.

    Raises:
        ConfigError: if a file is missing or wrong; the message names it.
        UnknownNameError: if the `eval_mode` is another.
    """
    root = Path(folder).expanduser()
    config = _config(root)
    questions = _questions(root / TRAIN_FILE)
    name, graded, heldout = f"smith:{folder}", min(150, len(questions) // 4), min(200, len(questions) // 4)
    files = SourceTree({str(path.relative_to(root)): _bytes(path) for path in sorted(root.rglob("*.py"))})
    exposed = _exposed(root, config.get("expose_files") or [])

    def deal(entropy: int) -> Mapping[str, Sequence[Question]]:
        order = generator(entropy, "posttraining", "smith", config["name"]).permutation(len(questions))
        dealt = [questions[i] for i in order]
        hidden = graded + heldout
        return {"validation": dealt[:graded], "heldout": dealt[graded:hidden], "train": dealt[hidden:]}

    description = _description(root, config, graded)
    version = digest_json([files.digest, [question.to_spec() for question in questions]])[:12]
    info = dealt_info(name, version=version, description=description, family="smith", kind=SCORED)
    return PostTrainingTask(
        name=name,
        level="L1",
        title=str(config["name"]),
        description=description,
        base_models=("smollm2-135m",),
        inner=DealtTaskset(info, deal, scorer={path: files.text(path) for path in files}),
        solver=plain_solver(),
        solving=Solving(max_turns=1, max_tokens=_TOKENS, temperature=0.0, seconds=1800.0),
        metric="mean of evaluate",
        materials=lambda entropy: {**exposed, TRAIN_FILE: jsonl(map(_row, deal(entropy)["train"]))},
        graded=graded,
        heldout=heldout,
        structure={"capability": 2, "interaction": 1, "reward": 2, "horizon": 1},
        labels=("the user's own",),
    )


def _config(root: Path) -> dict[str, Any]:
    with reading(root / _CONFIG, "YAML", "add or correct it: a task's folder has one"):
        config = yaml_value(read_text(root / _CONFIG))
    if not isinstance(config, dict) or not config.get("name"):
        raise ConfigError(f"{root / _CONFIG} has no name; add one, such as name: my-task")
    mode = config.get("eval_mode", _MODES[0])
    if mode not in _MODES:
        raise UnknownNameError(f"eval_mode of {root / _CONFIG}", str(mode), _MODES)
    if not (root / "eval.py").is_file():
        raise ConfigError(
            f"{root} has no eval.py; add one that defines evaluate(question, model_answer, reference_answer)"
        )
    return config


def _questions(path: Path) -> list[Question]:
    questions: dict[str, Question] = {}
    for where, cells, problem in read_rows(path).rows:
        if problem:
            raise ConfigError(f"{where} of {path}: {problem}")
        if "question" not in cells or "answer" not in cells:
            raise ConfigError(
                f"{where} of {path}: it has {quoted(list(cells))}; expected the fields question and answer"
            )
        if not _text(cells["question"]).strip():
            raise ConfigError(
                f"{where} of {path}: question = {quoted(cells['question'])}; expected a text that says something"
            )
        extra = {key: value for key, value in cells.items() if key not in ("question", "answer")}
        question = scored_question(_text(cells["question"]), cells["answer"], question=cells["question"], extra=extra)
        questions.setdefault(question.identity, question)
    if len(questions) < _LEAST:
        raise ConfigError(f"{path} has {len(questions)} different questions; expected {_LEAST} or more")
    return list(questions.values())


def _exposed(root: Path, names: Any) -> dict[str, bytes]:
    if not isinstance(names, list):
        raise ConfigError(f"expose_files of {root / _CONFIG} is {names!r:.80}; expected a list of files")
    exposed: dict[str, bytes] = {}
    for name in map(str, names):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        path, inside = root / name, PurePosixPath(name)
        within = path.is_file() and path.resolve().is_relative_to(root.resolve())
        if not within or inside.parts[0] == "data" or path.resolve() == (root / TRAIN_FILE).resolve():
            raise ConfigError(
                f"expose_files of {root / _CONFIG} names {name!r}; expected files of the folder outside of data/, "
                "which holds what is graded"
            )
        exposed[str(inside)] = _bytes(path)
    return exposed


def _description(root: Path, config: Mapping[str, Any], graded: int) -> str:
    own = root / "description.md"
    text = (
        _bytes(own).decode("utf-8", "replace")
        if own.is_file()
        else f"# {config['name']}\n\n{config.get('description', '')}\n"
    )
    return f"""{text.rstrip()}

- `data/train.jsonl`: rows with `prompt` (what the model is asked), `completion`, and the fields of the task.

A submission answers {graded} other rows, greedily, with at most {_TOKENS} tokens each; its score is the mean of what
`evaluate` gives.
"""


def _bytes(path: Path) -> bytes:
    with reading(path, "a plain file", "add it: a task's folder has plain files"):
        return read_bytes(path)


def _row(question: Question) -> dict[str, Any]:
    given = question.metadata
    return {
        **given["extra"],
        "question": given["question"],
        "answer": given["answer"],
        "prompt": question.text,
        "completion": _text(given["answer"]),
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
