"""Replies of solvers to programming problems: extracting the program, judging it, and giving feedback.

    async with code_judge() as judge:
        replies = Replies(judge)
        judged = await replies.judged(task.spec, reply)     # Judgement: verdict, score, message
        words = await replies.feedback(task.spec, reply, "public")

A task's spec names a problem, a language and the seed of its cases. Repeated requests are judged once.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from heredity._core.engine_folder import EngineFolder
from heredity._core.ids import digest_json
from heredity.engine.actor import RoundFeedback
from heredity.kinds.code.judge import VERDICTS, Judge, Judgement, Tests, Verdict
from heredity.kinds.code.languages import Language, language
from heredity.kinds.code.problem import Problem, problem
from heredity.kinds.code.ranks import Rank, Ranker
from heredity.models.replies import fenced_in
from heredity.sandbox.native import NativeRuns

_KEPT = 512
_MEASURED = 1  # case that programs are ranked by in rollouts: `heredity code ranks` takes more
_ALIASES = {
    "python3": ("python", "py"),
    "cpp": ("c++", "cc", "cxx"),
    "go": ("golang",),
    "kotlin": ("kt", "kts"),
    "javascript": ("js", "node"),
}


class Replies:
    """Judges replies.

    Args:
        judge: the judge.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge, self._ranker = judge, Ranker(judge, heaviest=_MEASURED)
        self._problems: dict[str, Problem] = {}
        self._tests = OrderedDict[tuple[str, str], asyncio.Future[Tests]]()
        self._judgements = OrderedDict[str, Judgement]()
        self._ranks = OrderedDict[str, Rank | None]()

    async def judged(self, spec: Mapping[str, Any], reply: str) -> Judgement:
        """Judge the program in a reply.

        Args:
            spec: of the task: `problem`, `language` and `seed`.
            reply: the solver's final words.

        Raises:
            ConfigError: if the language is not installed, or the problem's own programs fail.
            HostError: if the sandbox fails.
        """
        return await self.judged_program(spec, program_in(reply, language(str(spec["language"]))))

    async def judged_program(self, spec: Mapping[str, Any], source: str) -> Judgement:
        """Judge a program; raises as `judged`."""
        asked, chosen = self._problem(str(spec["problem"])), language(str(spec["language"]))
        key = digest_json([asked.digest, chosen.name, str(spec["seed"]), source])
        if key not in self._judgements:
            tests = await self._tests_of(asked, str(spec["seed"]))
            judged = await self._judge.judge(asked, chosen, source, tests)
            self._judgements[key] = judged
            if len(self._judgements) > _KEPT:
                self._judgements.popitem(last=False)
        return self._judgements[key]

    async def ranked(self, spec: Mapping[str, Any], reply: str) -> Rank | None:
        """Rank the program in a reply among the stored solutions of its problem, by the heaviest case for the reference.

        Args:
            spec: as for `judged`.
            reply: a reply with an accepted program.

        Raises:
            ConfigError, HostError: as `judged`.
        """
        asked, chosen = self._problem(str(spec["problem"])), language(str(spec["language"]))
        source = program_in(reply, chosen)
        key = digest_json([asked.digest, chosen.name, str(spec["seed"]), source])
        if key not in self._ranks:
            tests = await self._tests_of(asked, str(spec["seed"]))
            self._ranks[key] = await self._ranker.rank(asked, tests, chosen, source)
            if len(self._ranks) > _KEPT:
                self._ranks.popitem(last=False)
        return self._ranks[key]

    async def feedback(self, spec: Mapping[str, Any], reply: str, kind: RoundFeedback) -> str | None:
        """Return the feedback on a reply, or None without an objection.

        With `"none"` and `"self"` there is none, since only the solver itself reviews it. `"public"` gives the result
        on the examples; `"verdict"` gives the judgement on all cases, which for a hidden one has only its number and
        the kind of failure.

        Args:
            spec: of the task.
            reply: the reply.
            kind: the allowed feedback.
        """
        if kind in ("none", "self"):
            return None
        judgement = await self.judged(spec, reply)
        return words(judgement.public if kind == "public" else judgement) or None

    def _problem(self, name: str) -> Problem:
        if name not in self._problems:
            self._problems[name] = problem(name)
        return self._problems[name]

    async def _tests_of(self, asked: Problem, seed: str) -> Tests:
        """Return a problem's cases, shared by all languages; concurrent requests draw them once."""
        key = (asked.digest, seed)
        drawing = self._tests.get(key)
        if drawing is None or (drawing.done() and (drawing.cancelled() or drawing.exception())):
            drawing = self._tests[key] = asyncio.ensure_future(self._judge.tests(asked, seed))
            if len(self._tests) > _KEPT:
                self._tests.popitem(last=False)
        return await asyncio.shield(drawing)


def program_in(reply: str, wanted: Language) -> str:
    """Return the program in a reply: its last fenced block in the language, else its last one without or with another language."""
    blocks = [(name.split()[0] if name else "", content) for name, content in fenced_in(reply, unended=True)]
    names = (wanted.name, *_ALIASES.get(wanted.name, ()))
    for tags in (names, ("",)):
        if fitting := [block for tag, block in blocks if tag in tags]:
            return fitting[-1]
    return blocks[-1][1] if blocks else ""


def words(judgement: Judgement) -> str:
    """Return a judgement as text for a solver; empty without an objection."""
    verdict = judgement.verdict
    if verdict is Verdict.PASSED:
        return ""
    if verdict is Verdict.NO_PROGRAM:
        return f"{verdict.value}: {VERDICTS[verdict]}; write the whole solution as one fenced block of code."
    passed = f" after {judgement.passed} of {judgement.cases} cases" if verdict is not Verdict.COMPILATION else ""
    limit = f" (limit {judgement.limit_s:.2f} s a case)" if verdict in (Verdict.TIME, Verdict.NO_ANSWER_IN_TIME) else ""
    message = f"\n{judgement.message}" if judgement.message else ""
    return f"{verdict.value}: your program {VERDICTS[verdict]}{passed}{limit}.{message}"


@asynccontextmanager
async def code_judge(workers: int | None = None) -> AsyncGenerator[Judge]:
    """Yield a judge with a new folder.

    Args:
        workers: maximum concurrent programs; one per core by default.

    Raises:
        IsolationError: if this machine cannot confine programs.
    """
    with EngineFolder() as folder:
        async with NativeRuns(workers) as runs:
            yield Judge(runs, folder)
