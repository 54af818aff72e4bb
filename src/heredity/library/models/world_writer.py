"""`offline/world-author` and `-careless`: programs in the place of an author's model (docs/world-generation.md).

They know only the words of `world_words`: these select mechanics for a theme, and `heredity.kinds.world.compose`
assembles the world. The world and the findings of gates are real. Its yields show that the machinery works, but say
nothing about language models. The careless one plants faults from a list, each with a stated probability, and fixes
reported faults if it notices them.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from heredity._core.errors import ProviderError
from heredity._core.ids import generator
from heredity.kinds.world.compose.composing import Composition
from heredity.library.models.follower import words_of
from heredity.library.models.world_faults import FAULTS, planted
from heredity.library.models.world_hooks import CODE, COMPUTED, FILE, hooked
from heredity.library.models.world_words import ABSTRACT, MECHANICS, PLACES, chosen, wishes, words_of_theme
from heredity.models.contract import Message, Reply, Request, ToolCall, Usage

_TASK = re.compile(r"^Task: (\w+)$", re.MULTILINE)
_COUNT = re.compile(r"^Propose (\d+) themes", re.MULTILINE)
_WORLD = re.compile(r"named `(\w+)`")
_GATE = re.compile(r"^(\w+): (passed|REJECTED)$")
_FINDING = re.compile(r"^- (.*?)(?: \(\d+ times\))?: (.*)$")
_PASSED = re.compile(r"^(\d+) of \1 gates passed", re.MULTILINE)
_EXPOSED = re.compile(r"observe exposes '(\w+)'")
_SYMBOL = re.compile(r"the grid shows '(.)'")
_NOTICED = 0.75
"""How likely the careless author notices what it is told, each time."""


@dataclass(frozen=True, slots=True)
class Told:
    """A finding in a build's answer."""

    gate: str
    kind: str
    message: str


@dataclass(frozen=True)
class Work:
    """A world in progress: its composition, remaining faults, and fixes.

    Attributes:
        theme: theme of the world.
        world: name of the world.
        seed: seed of the author.
        rate: probability of each kind of fault.
        results: answers of builds so far.
    """

    theme: str
    world: str
    seed: int
    rate: float
    results: Sequence[str]

    @cached_property
    def faults(self) -> list[str]:
        """The planted faults, without those that do not fit."""
        rng = self._rng("faults")
        drawn = [kind for kind in FAULTS if rng.random() < self.rate]
        return planted(self._sound(0, (), ()), drawn, self._rng("places"))[1] if drawn else []

    @cached_property
    def text(self) -> str:
        """`world.yaml` after the reported findings; unchanged if nothing could be fixed."""
        candidate, left = 0, list(self.faults)
        places, symbols = list[str](), list[str]()
        for number, result in enumerate(self.results):
            findings = findings_of(result)
            noticed = [kind for kind in left if _meets(kind, findings) and self._notices(kind, number)]
            left = [kind for kind in left if kind not in noticed]
            places += [name for one in findings for name in _EXPOSED.findall(one.message) if name != "spare"]
            symbols += [symbol for one in findings for symbol in _SYMBOL.findall(one.message) if symbol not in "#"]
            natural = [
                one for one in findings if not _mendable(one) and not any(_meets(kind, [one]) for kind in self.faults)
            ]
            if natural and not left:
                candidate, places, symbols = candidate + 1, [], []
        sound = self._sound(min(candidate, len(self.choices) - 1), places, symbols)
        return planted(sound, left, self._rng("places"))[0]

    @cached_property
    def choices(self) -> Sequence[Composition]:
        """Worlds for the theme, best first."""
        return chosen(self.theme, self.seed)

    def _sound(self, candidate: int, places: Sequence[str], symbols: Sequence[str]) -> dict[str, Any]:
        made = self.choices[candidate].description
        value: dict[str, Any] = json.loads(made.model_dump_json(exclude_defaults=True))
        value["meta"]["name"] = self.world
        value["meta"]["title"] = (
            f"{self.world.replace('_', ' ').capitalize()}: {', '.join(self.choices[candidate].mechanics)}"
        )
        for name in places:
            value["rules"]["observe"].pop(name, None)
        for symbol in symbols:
            value["skin"].setdefault("legend", {})[symbol] = "a thing of this place"
        return hooked(value) if COMPUTED & {*words_of_theme(self.theme)} else value

    def _notices(self, kind: str, number: int) -> bool:
        return bool(self._rng("notices", kind, number).random() < _NOTICED)

    def _rng(self, *path: str | int) -> Any:
        return generator(self.seed, "offline", "world-author", self.world, *path)


class WorldWriter:
    """Answers the requests of the built-in author. Deterministic in the request."""

    name = "offline/world-author"
    rate = 0.0
    """How likely each kind of fault is planted."""
    patience = 8
    """After so many builds it gives up."""

    async def reply(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            ProviderError: if it is not the author's request (`unscripted`).
        """
        first = next((message for message in request.messages if message.role == "user"), Message("user"))
        task = _TASK.search(first.content)
        if task is None or task[1] not in ("propose", "review", "design", "rules"):
            raise ProviderError("unscripted", f"{self.name} answers authors of worlds only", transient=False)
        text, calls = await asyncio.to_thread(self._answer, task[1], first.content, request)
        used = Usage(
            words_of(request.messages), len(text.split()) + sum(len(c.arguments.split()) for c in calls), 0, 0.0
        )
        return Reply(text, calls, "tool_calls" if calls else "stop", usage=used, model=self.name)

    def _answer(self, task: str, prompt: str, request: Request) -> tuple[str, tuple[ToolCall, ...]]:
        theme = prompt.rpartition("The theme:\n\n")[2].partition("\n\nThe design:\n\n")[0].strip()
        if task == "propose":
            return _propose(prompt), ()
        if task == "review":
            return _review(theme), ()
        named = _WORLD.search(prompt)
        results = [message.content for message in request.messages if _is_build(message, request.messages)]
        world = named[1] if named else "world"
        work = Work(theme, world, request.sampling.seed or 0, self.rate, results)
        if not work.choices:
            unknown = ", ".join(wishes(theme).unknown[:12])
            return (
                f"No word of this theme is in my vocabulary, which is a list ({unknown}); I cannot make a world of it.",
                (),
            )
        return (_design(work), ()) if task == "design" else ("", self._next(work, request))

    def _next(self, work: Work, request: Request) -> tuple[ToolCall, ...]:
        last, number = request.messages[-1], sum(m.role == "assistant" for m in request.messages)
        if last.role == "tool" and not _is_build(last, request.messages):
            return (ToolCall(f"call-{number}", "build", "{}"),)
        done = bool(work.results) and (
            _PASSED.search(work.results[-1]) is not None or len(work.results) >= self.patience
        )
        before = Work(work.theme, work.world, work.seed, work.rate, work.results[:-1])
        stuck = bool(work.results) and before.text == work.text and not _unnoticed(work)
        if done or stuck:
            return (ToolCall(f"call-{number}", "finish", "{}"),)
        # A careless author that has not noticed anything builds again what it thinks is mended, with a remark.
        text = work.text + (
            f"# read again after build {len(work.results)}\n" if work.results and before.text == work.text else ""
        )
        world = ToolCall(f"call-{number}", "write_file", json.dumps({"path": "world.yaml", "content": text}))
        if work.results or "\n  hooks:\n" not in text:
            return (world,)
        hooks = ToolCall(f"call-{number}-hooks", "write_file", json.dumps({"path": FILE, "content": CODE}))
        return hooks, world


class CarelessWorldWriter(WorldWriter):
    """The same, with faults: each of `world_faults.FAULTS` that fits, with probability 0.15."""

    name = "offline/world-author-careless"
    rate = 0.15


def findings_of(result: str) -> list[Told]:
    """Return the findings in a build's answer."""
    gate, findings = "", list[Told]()
    for line in result.splitlines():
        if match := _GATE.match(line):
            gate = match[1]
        elif match := _FINDING.match(line):
            findings.append(Told(gate, match[1], match[2]))
    return findings


def _is_build(message: Message, messages: Sequence[Message]) -> bool:
    names = {call.id: call.name for other in messages for call in other.tool_calls}
    return message.role == "tool" and names.get(message.tool_call_id) == "build"


def _meets(kind: str, findings: Sequence[Told]) -> bool:
    return any((one.gate, one.kind) in FAULTS[kind].meets for one in findings)


def _mendable(finding: Told) -> bool:
    return bool(_EXPOSED.search(finding.message) or _SYMBOL.search(finding.message))


def _unnoticed(work: Work) -> bool:
    """Return True if the last report was of a planted fault and went unnoticed."""
    findings = findings_of(work.results[-1])
    return any(_meets(kind, findings) for kind in work.faults)


def _propose(prompt: str) -> str:
    """Return themes made of two mechanics and a place, except those named in the request."""
    count = int(_COUNT.search(prompt)[1]) if _COUNT.search(prompt) else 1  # pyright: ignore[reportOptionalSubscript]
    choices = [(setting, one, other) for setting in PLACES for one, other in itertools.combinations(MECHANICS, 2)]
    order = generator(0, "offline", "world-author", "propose").permutation(len(choices))
    texts = [
        f"In a {setting.split()[0]}: {one}, and {other}." for setting, one, other in (choices[int(i)] for i in order)
    ]
    return "".join(f"- {text}\n" for text in [text for text in texts if text not in prompt][:count])


def _review(theme: str) -> str:
    wanted, words = wishes(theme), words_of_theme(theme)
    abstract = sorted(set(words) & ABSTRACT)
    repeated = sorted(word for word, count in Counter(words).items() if count > 2 and len(word) > 3)
    lacking = [key for key in ("reward", "observation") if key not in wanted.asked]
    kept = [s for s in re.split(r"(?<=[.!?])\s+", theme) if not set(words_of_theme(s)) & ABSTRACT] or [theme]
    precise = [*kept, f"What it is made of: {', '.join(wanted.mechanics) or 'a place to walk in'}."]
    lines = (
        f"Ambiguous: {', '.join(f'which {key}' for key in lacking) or 'nothing'}.",
        f"Abstract: {', '.join(abstract) or 'nothing'}.",
        f"Redundant: {', '.join(repeated) or 'nothing'}.",
    )
    ended = [sentence if sentence[-1] in ".!?" else f"{sentence}." for sentence in precise]
    return "\n".join([*lines, "", "## Theme", "", " ".join(ended)])


def _design(work: Work) -> str:
    made = work.choices[0].description
    parts: Mapping[str, str] = {
        "Background": made.meta.summary,
        "Goal": made.instruction,
        "State": "\n".join(f"- {name}: {words}" for name, words in made.state.items()),
        "Actions": "\n".join(f"- {name}: {action.description}" for name, action in made.actions.items()),
        "Transition": f"By the mechanics {', '.join(work.choices[0].mechanics)}.",
        "Rewards": made.reward,
        "Observation": made.observation or "Everything is seen.",
        "Termination": made.termination or "When the steps are over.",
        "Special": f"Words that were not understood: {', '.join(wishes(work.theme).unknown) or 'none'}.",
        "Levels": made.generator or "They are drawn anew.",
        **({"Planted faults": "\n".join(f"- {kind}" for kind in work.faults)} if work.faults else {}),
    }
    return "".join(f"## {title}\n\n{text}\n\n" for title, text in parts.items())
