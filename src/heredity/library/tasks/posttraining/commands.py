"""Requests to a house in plain words, each answered by one command in a fixed syntax: `study.lamp(40, 17:20)` (L1).

The syntax is not in the prompt, so a general model earns almost nothing before training; a few hundred examples teach
it. The task is small enough for low-rank adaptation of a model with 135 million parameters on a CPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from heredity._core.outside import jsonl
from heredity.engine.actor import Solving
from heredity.engine.questions import Question
from heredity.kinds.checkpoint.tasks.contract import TRAIN_FILE, PostTrainingTask, plain_solver
from heredity.kinds.checkpoint.tasks.scoring import SCORED, scored_question
from heredity.kinds.checkpoint.tasks.taskset import DealtTaskset, dealt_info, draw_indices

_ROOMS = ("kitchen", "study", "hall", "bedroom", "cellar", "attic", "garage", "nursery")
_LEVELS = range(1, 100)
_MINUTES = 24 * 60
_PHRASES: Mapping[str, tuple[tuple[str, ...], Sequence[int | str]]] = {
    "lamp": (
        ("Dim the lamp in the {room} to {value} percent.", "I want the {room} lit at {value} percent.",
         "{value} percent of light is enough in the {room}.", "Set the light of the {room} to {value} percent, please."),
        _LEVELS,
    ),
    "heater": (
        ("Heat the {room} to {value} degrees.", "It should be {value} degrees warm in the {room}.",
         "Could the {room} be at {value} degrees?", "Turn the heating of the {room} to {value} degrees."),
        range(5, 31),
    ),
    "blind": (
        ("Let the blind of the {room} down by {value} percent.", "Cover {value} percent of the window in the {room}.",
         "The blind in the {room} goes down {value} percent.", "Shade the {room}: {value} percent of blind."),
        _LEVELS,
    ),
    "door": (
        ("Please {value} the door of the {room}.", "Would you {value} the {room}?",
         "{Value} the door to the {room} now.", "The {room}: {value} its door."),
        ("lock", "unlock"),
    ),
}  # fmt: skip
"""Device to ways of asking for something, and what it can be set to."""

_GRADED, _HELDOUT, _TRAINED = 60, 100, 500
_TOKENS = 24
_PROMPT = "Write the command for this request.\n\n{{question}}"

_EVAL = '''\
"""The rule by which answers are graded: 1.0 for the command and nothing else, 0.0 otherwise."""


def evaluate(question: str, model_answer: str, reference_answer: str) -> float:
    return float(model_answer.strip() == reference_answer)
'''

_DESCRIPTION = f"""\
# Commands for a house

The model is told what somebody wants of a house, and replies with one command and nothing else: `room.device(value, time)`, such
as `study.lamp(40, 17:20)`, `hall.heater(21, 06:05)` or `cellar.door(lock, 22:31)`. The prompt does not say so; the model has to
know.

- `data/train.jsonl`: {_TRAINED} requests with `prompt` (what the model is asked), `completion`, `question` and `answer`.
- `eval.py`: `evaluate(question, model_answer, reference_answer)`, the rule that grades.

A submission answers {_GRADED} other requests, greedily, with at most {_TOKENS} tokens each; its score is the share of right
commands.
"""


def commands() -> PostTrainingTask:
    """Return the task."""
    kinds = list(_kinds())
    space = len(kinds) * _MINUTES

    def question(index: int) -> Question:
        minutes, (request, command) = index % _MINUTES, kinds[index // _MINUTES]
        time = f"{minutes // 60:02}:{minutes % 60:02}"
        return scored_question(f"At {time}: {request}", f"{command}, {time})")

    def deal(entropy: int) -> Mapping[str, Sequence[Question]]:
        hidden = _GRADED + _HELDOUT
        dealt = [question(i) for i in draw_indices(entropy, "commands", space, hidden + _TRAINED)]
        return {"validation": dealt[:_GRADED], "heldout": dealt[_GRADED:hidden], "train": dealt[hidden:]}

    def materials(entropy: int) -> Mapping[str, bytes]:
        return {TRAIN_FILE: jsonl(map(_row, deal(entropy)["train"])), "eval.py": _EVAL.encode()}

    info = dealt_info("commands", version="2", description=_DESCRIPTION, family="commands", kind=SCORED)
    return PostTrainingTask(
        name="commands",
        level="L1",
        title="Say it in the syntax of a house",
        description=_DESCRIPTION,
        base_models=("smollm2-135m",),
        inner=DealtTaskset(info, deal, scorer={"eval.py": _EVAL}),
        solver=plain_solver(_PROMPT),
        solving=Solving(max_turns=1, max_tokens=_TOKENS, temperature=0.0),
        metric="accuracy",
        materials=materials,
        graded=_GRADED,
        heldout=_HELDOUT,
        structure={"capability": 1, "interaction": 1, "reward": 1, "horizon": 1},
        space=space,
    )


def _kinds() -> Iterator[tuple[str, str]]:
    """Yield every request without its time, and the matching command without its end."""
    for device, (phrases, values) in _PHRASES.items():
        for room in _ROOMS:
            for value in values:
                for phrase in phrases:
                    request = phrase.format(room=room, value=value, Value=str(value).capitalize())
                    yield request, f"{room}.{device}({value}"


def _row(question: Question) -> dict[str, str]:
    asked = _PROMPT.replace("{{question}}", question.text)
    return {"prompt": asked, "completion": question.answer, "question": question.text, "answer": question.answer}
