"""Interface to the `gepa` package: a search that runs on the event loop, and the adapter that the package's thread calls."""

from __future__ import annotations

import asyncio
import concurrent.futures
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, Literal, TypeVar

import numpy as np
from pydantic import Field

from heredity._core.errors import BudgetError, ConfigError, ProviderError
from heredity._core.ids import generator, seed_sequence
from heredity._core.spans import span
from heredity.methods.contract import Batch, Decision, EvolverContext, SessionContract
from heredity.methods.operators.commit import paired_interval
from heredity.methods.operators.dialogue import UNFINISHED, Dialogue, Failed, Noting, encodable
from heredity.methods.operators.evaluate import UNBOUNDED_EPISODES, Proposal
from heredity.methods.operators.evidence import latest_once, shortened
from heredity.methods.operators.improve import Edits, edits_in
from heredity.methods.operators.measure import Measured, Measurements
from heredity.methods.registry import MethodOptions
from heredity.methods.targets import Target, checked_edits, chosen_variables
from heredity.models import Request
from heredity.models.contract import Sampling
from heredity.models.replies import control_in, without_thoughts
from heredity.resources import Candidate
from heredity.resources.assembly import check_candidate

T = TypeVar("T")
Texts = dict[str, str]
"""The package's candidate: variable to text."""

NAME = "gepa"


class GepaOptions(MethodOptions):
    """Options of GEPA; those of the package keep its defaults."""

    target: tuple[Target, ...] = Field(("prompt",), min_length=1, description="targets whose texts may change")
    batch: int = Field(3, ge=1, le=1_000, description="train tasks of a minibatch")
    pareto: int = Field(16, ge=1, le=10_000, description="train tasks that compare candidates")
    metric_calls: int = Field(
        0, ge=0, le=1_000_000, description="rollouts as the package counts them; 0: all of the budget"
    )
    batch_calls: int = Field(
        0,
        ge=0,
        le=1_000_000,
        description="the same per update under a schedule; 0: eight times the tasks of the batch",
    )
    select: Literal["pareto", "current_best", "epsilon_greedy", "top_k_pareto"] = Field(
        "pareto", description="candidate to change next"
    )
    components: Literal["round_robin", "all"] = Field("round_robin", description="texts to change")
    proposer: Literal["package", "improve"] = Field(
        "package", description="the package's request to the model, or the one of all optimizers"
    )
    solved: float = Field(1.0, description="lowest score that needs no reflection")
    evidence_chars: int = Field(2000, ge=100, le=1_000_000, description="maximum characters of each text of a rollout")
    value_chars: int = Field(20_000, ge=1, le=10_000_000, description="maximum characters of one new text")
    temperature: float | None = Field(None, ge=0, le=100, description="sampling temperature of the model that proposes")


class GepaSearch:
    """The package's requests, as coroutines of the event loop.

    Attributes:
        budget: number of rollouts that the session allows.
        initial: the texts that may change, at the start of the search.
    """

    def __init__(self, session: SessionContract, context: EvolverContext, options: GepaOptions) -> None:
        """Start a search; raises ConfigError if no model is configured, or nothing may change."""
        check_candidate(context.initial)
        self._session, self._context, self._options, self._model = session, context, options, context.model
        self._dialogue = Dialogue(context.model, context.seed, NAME, options.temperature)
        episodes = session.remaining().episodes
        self.budget = UNBOUNDED_EPISODES if episodes is None else episodes
        self._measurements = Measurements(session, NAME, 1, options.evidence_chars)
        self._asked = 0
        self._failures: list[str] = []
        self._rejected: list[dict[str, Any]] = []
        self._committed = context.initial
        self._begin([])
        if not self.initial:
            raise ConfigError(f"target = {list(options.target)} names no text of the initial candidate; GEPA adds none")

    def _begin(self, compared: list[int]) -> None:
        """Start from the committed candidate."""
        self._compared, self._base = compared, self._committed
        self.initial = chosen_variables(self._base, self._options.target)
        self._parent = self._base
        self._decided = {self._base.digest}
        self._parents: dict[str, tuple[str, ...]] = {self._base.digest: ()}
        self._best: Candidate | None = None

    async def start(self, compared: list[int]) -> None:
        """Commit the initial candidate; without a schedule, first attempt the tasks that compare candidates."""
        evidence: tuple[int, ...] = ()
        if not self._context.scheduled:
            self._begin(compared)
            evidence = (await self._measure(self._committed, compared, "the initial candidate", ())).submissions
        await self._commit(
            Decision(self._committed.digest, "", True, "the initial candidate", evidence), self._committed
        )

    def open(self, batch: Batch) -> None:
        """Start a batch of a schedule, with new rollouts."""
        self._measurements.forget()
        if batch.reset:
            self._committed = self._context.initial
            self._rejected.clear()
            self._failures.clear()

    async def update(self, tasks: Sequence[int], drive: Callable[[], Awaitable[None]]) -> None:
        """Search on the tasks of a batch, from the committed candidate, and commit the best one found."""
        self._begin([*tasks])
        await self._measure(self._base, tasks, "the committed candidate", ())
        try:
            await drive()
        except BudgetError:
            await self._adopt()
            raise
        await self._adopt()

    async def _adopt(self) -> None:
        if self._best is None:
            return
        made = await self._commit(await self._weighed(self._best, best=True), self._best)
        if made.accepted:
            self._committed = self._best
            return
        self._failures.append(made.reason)
        after = chosen_variables(self._best, self._options.target)
        edits = {name: shortened(text, 500) for name, text in after.items() if text != self.initial[name]}
        self._rejected.append({"round": self._asked, "edits": edits, "reason": made.reason, "difference": None})

    def made(self, texts: Texts) -> Candidate | Failed:
        """Build the candidate from texts."""
        edits = {name: text for name, text in texts.items() if text != self.initial[name]}
        try:
            for name, text in edits.items():
                if len(text) > self._options.value_chars:
                    raise ConfigError(f"{name} has {len(text)} characters; {self._options.value_chars} are allowed")
            return checked_edits(self._base, self._options.target, dict(edits)) if edits else self._base
        except ConfigError as error:
            return Failed(f"improve: {error}")

    async def evaluate(self, tasks: Sequence[int], texts: Texts) -> tuple[list[float], list[dict[str, Any]]]:
        """Return scores and evidence; missing rollouts count as the mean of the others, unbuildable candidates as failed."""
        worst, made = self._context.taskset.failure_return, self.made(texts)
        if isinstance(made, Failed):
            self._failures.append(made.reason)
            return [worst] * len(tasks), [{"task": task, "score": worst, "error": made.reason} for task in tasks]
        note = "again, on other tasks" if made.digest in self._parents else "proposed by the gepa package"
        if self._failures and made.digest not in self._parents:
            note += f" (before it failed: {'; '.join(shortened(f, 500) for f in self._failures[-3:])})"
            self._failures.clear()
        parents = self._parents.setdefault(made.digest, (self._parent.digest,))
        measured = await self._measure(made, tasks, " ".join(note.split()), parents)
        scores = measured.scores
        usual = measured.mean if scores else worst
        return [scores.get(t, usual) for t in tasks], [measured.rollouts[t][0].evidence for t in tasks]

    def reflects_on(self, texts: Texts) -> None:
        """Remember the parent of the next child."""
        made = self.made(texts)
        self._parent = self._parent if isinstance(made, Failed) else made

    async def ask(self, prompt: str) -> str:
        """Send the package's request to the model."""
        number, self._asked = self._asked, self._asked + 1
        words = seed_sequence(self._context.seed, "method", NAME, "model", number).generate_state(1)
        sampling = Sampling(temperature=self._options.temperature, seed=int(words[0]) >> 1)
        assert self._model is not None, "the dialogue has refused to begin without a model"
        request = Request.of(encodable(prompt), sampling=sampling, purpose="optimisation")
        with span("reflect", kind="operator", method=NAME, place=[number]) as step:
            try:
                reply = await self._model.reply(request)
            except ProviderError as error:
                self._failures.append(f"reflect: the model gave no answer ({error.kind})")
                step.set(failed=self._failures[-1])
                raise
            text = without_thoughts(reply.text)[1]
            if problem := UNFINISHED.get(reply.finish) or _problem_of(text):
                self._failures.append(f"reflect: the reply could not be used: {problem}")
                step.set(failed=self._failures[-1])
                if isinstance(self._model, Noting):
                    await self._model.unused(request, problem)
                raise ProviderError("garbage", self._failures[-1], transient=False)
        return text

    async def improve(self, texts: Texts, evidence: Sequence[Mapping[str, Any]], names: list[str]) -> Texts:
        """Ask in the form shared by all optimizers; return nothing new if the reply is unusable."""
        number, self._asked = self._asked, self._asked + 1
        scores = [item["score"] for item in evidence if item["score"] is not None]
        data = {
            "round": number + 1,
            "variables": {name: texts[name] for name in names},
            "evidence": [dict(item) for item in evidence],
            "score": sum(scores) / len(scores) if scores else None,
            "rejected": latest_once(self._rejected, 6),
            "signals": [],
            "limits": {
                "targets": list(self._options.target),
                "new_variables": [],
                "value_chars": self._options.value_chars,
            },
            "draw": 0,
        }

        def read(reply: Mapping[str, Any]) -> Edits:
            edits = edits_in(reply)
            if unknown := [name for name in edits.values if name not in names]:
                raise ConfigError(f"{unknown[0]} may not be changed now; these may: {', '.join(names)}")
            made = self.made({**texts, **{name: text for name, text in edits.values.items() if text is not None}})
            if isinstance(made, Failed):
                raise ConfigError(made.reason.removeprefix("improve: "))
            return edits

        edits = await self._dialogue.ask("improve", data, read, (number,))
        if isinstance(edits, Failed):
            self._failures.append(edits.reason)
            return {}
        return {name: text for name, text in edits.values.items() if text is not None}

    async def compared(self, texts: Texts, best: bool) -> None:
        """Decide on a candidate that has entered the pool; under a schedule the best of a batch waits for its end."""
        made = self.made(texts)
        if isinstance(made, Failed) or made.digest in self._decided:
            return
        if self._context.scheduled and best:
            self._decided.add(made.digest)
            made, self._best, best = self._best, made, False
            if made is None:
                return
        if (await self._commit(await self._weighed(made, best=best), made)).accepted:
            self._committed = made

    async def _weighed(self, made: Candidate, *, best: bool) -> Decision:
        """Return the decision on a candidate of the pool from its scores on the Pareto tasks."""
        one = await self._measure(made, self._compared, "", ())
        base = await self._measure(self._committed, self._compared, "", ())
        mine, theirs = one.scores, base.scores
        differences = np.array([mine[task] - theirs[task] for task in sorted(mine.keys() & theirs.keys())])
        rng = generator(self._context.seed, "method", NAME, "interval", made.digest)
        word = "the best" if best else "not the best"
        return Decision(
            made.digest,
            self._committed.digest,
            best,
            f"{word} of the pool on the Pareto tasks (mean {one.mean:.4g}, of the committed one {base.mean:.4g})",
            tuple(sorted({*one.submissions, *base.submissions})),
            float(differences.mean()) if differences.size else None,
            paired_interval(differences, rng),
            differences.size,
        )

    async def refused(self, texts: Texts, tasks: Sequence[int], reason: str) -> None:
        """Record that a candidate did not enter the pool; one that could not be built was never submitted."""
        made = self.made(texts)
        if isinstance(made, Failed) or made.digest in self._decided:
            return
        one = await self._measure(made, tasks, "", ())
        await self._commit(Decision(made.digest, self._parent.digest, False, reason, one.submissions), made)

    async def _measure(self, made: Candidate, tasks: Sequence[int], note: str, parents: tuple[str, ...]) -> Measured:
        with span("evaluate", kind="operator", candidates=1, tasks=len(tasks)) as step:
            (measured,) = await self._measurements.measure([Proposal(made, parents, note)], tasks)
            step.set(means=[measured.mean] if measured.scores else [])
        return measured

    async def _commit(self, asked: Decision, candidate: Candidate) -> Decision:
        self._decided.add(asked.candidate)
        with span("commit", kind="commit", candidate=asked.candidate) as step:
            made = await self._session.commit(asked, candidate)
            step.set(accepted=made.accepted, reason=made.reason)
        return made


class GepaAdapter:
    """The package's adapter, acceptance criterion and callback, called in its thread: each waits for the event loop.

    Attributes:
        error: the exception that ended the search. The package swallows some exceptions, so it is also asked to stop.
        propose_new_texts: None leaves the request to the package.
    """

    def __init__(self, search: GepaSearch, batch_type: Any, proposer: str) -> None:
        """Adapt a search; `batch_type` is the package's class of results."""
        self._search, self._batch = search, batch_type
        self._loop = asyncio.get_running_loop()
        self._waiting: concurrent.futures.Future[Any] | None = None
        self.error: BaseException | None = None
        self.propose_new_texts = self._improved if proposer == "improve" else None

    async def driven(self, drive: Callable[[], None]) -> None:
        """Run the package to its end and raise the exception that ended it, if any."""
        try:
            await asyncio.to_thread(drive)
        except asyncio.CancelledError as error:
            self.error = self.error or error
            if self._waiting is not None:
                self._waiting.cancel()
            raise
        if self.error is not None:
            raise self.error

    def stopped(self, state: Any) -> bool:
        """Return True if the package should stop before it has made all its metric calls."""
        return self.error is not None

    def evaluate(self, batch: list[int], candidate: Texts, capture_traces: bool = False) -> Any:
        """Attempt tasks."""
        scores, items = self._wait(self._search.evaluate(batch, candidate))
        return self._batch(outputs=items, scores=scores, trajectories=items if capture_traces else None)

    def make_reflective_dataset(
        self, candidate: Texts, eval_batch: Any, components_to_update: list[str]
    ) -> dict[str, list[dict[str, Any]]]:
        """Return the rollouts in the form of the request."""
        self._search.reflects_on(candidate)
        items: list[dict[str, Any]] = eval_batch.trajectories
        if self.propose_new_texts is None:
            items = [_record(item) for item in items]
        return dict.fromkeys(components_to_update, items)

    def ask(self, prompt: Any) -> str:
        """Ask the model; prompts are always text, since images are not used."""
        return self._wait(self._search.ask(str(prompt)))

    def should_accept(self, proposal: Any, state: Any) -> bool:
        """Accept a candidate that beats its parent on the minibatch, the package's default rule."""
        before, after = sum(proposal.subsample_scores_before), sum(proposal.subsample_scores_after)
        if after > before:
            return True
        tasks = [item["task"] for item in proposal.eval_after.outputs]
        reason = f"not better than its parent on a minibatch ({after:.4g}, before {before:.4g})"
        self._wait(self._search.refused(proposal.candidate, tasks, reason))
        return False

    def on_valset_evaluated(self, event: Any) -> None:
        """Decide on a candidate that has entered the pool."""
        if event["candidate_idx"]:
            self._wait(self._search.compared(event["candidate"], event["is_best_program"]))

    def _improved(self, candidate: Texts, reflective_dataset: Any, components_to_update: list[str]) -> Texts:
        evidence = reflective_dataset[components_to_update[0]]
        return self._wait(self._search.improve(candidate, evidence, components_to_update))

    def _wait(self, asked: Coroutine[Any, Any, T]) -> T:
        if self.error is not None:
            asked.close()
            raise self.error
        try:
            self._waiting = asyncio.run_coroutine_threadsafe(asked, self._loop)
            return self._waiting.result()
        except ProviderError:
            raise
        except BaseException as error:
            self.error = self.error or error
            raise


class Silent:
    """A silent logger for the package, which would otherwise print."""

    def log(self, message: str) -> None:
        """Drop the message; decisions and spans carry the information."""


def _problem_of(text: str) -> str:
    """Return the reason why the package's request has no usable reply in a text; empty if it has one."""
    if not re.search(r"```.*\S.*```", text, re.DOTALL):
        return "it has no text between ```"
    control = control_in(text)
    return f"it holds the control character {control!r}; leave it out" if control else ""


def _record(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return a rollout with the keys used in the package's request."""
    parts = [f"Score: {item['score']}"]
    parts += [f"{label}: {item[key]}" for label, key in (("Expected", "expected"), ("Error", "error")) if item.get(key)]
    output = item.get("transcript") or item.get("answer") or "(nothing)"
    asked = item.get("question") or f"task {item['task']}"
    return {"Inputs": asked, "Generated Outputs": output, "Feedback": "\n".join(parts)}
