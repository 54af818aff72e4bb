from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from heredity import library
from heredity._core.errors import ProviderError
from heredity.engine.programs import SandboxedPrograms
from heredity.engine.runner import Job
from heredity.engine.solver import build
from heredity.kinds.container.kind import ContainerRunner, probe
from heredity.library.models import open_model
from heredity.library.models.harness_parts import CARELESS_TEXT, MIDDLEWARE, MIDDLEWARE_TEXT, MOST, PROMPT, TOOL
from heredity.library.models.lessons import LESSONS, lessons_in, report
from heredity.methods.ahe import manifest_in
from heredity.methods.contract import Outcome
from heredity.methods.operators.dialogue import FORMS
from heredity.methods.operators.evidence import evidence_item
from heredity.methods.operators.improve import edits_in
from heredity.methods.targets import Target, checked_edits, chosen_variables, new_variables
from heredity.models import Request, Sampling
from heredity.resources import Candidate
from heredity.resources.assembly import candidate_from_folder
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.containers import BubblewrapBackend
from heredity.sandbox.limits import Limits
from heredity.tasks import Task
from heredity.tasks.registry import taskset

HARNESS = Path(library.__path__[0]) / "harnesses" / "worker"
ALL: tuple[Target, ...] = ("prompt", "tool", "memory", "agent")
TEXT = "You carry out tasks.\n"


def item(
    task: int, lacked: Sequence[str] = (), heeded: Sequence[str] = (), *, blunt: bool = False, error: str = ""
) -> dict[str, Any]:
    said = report(lacked, heeded, blunt)
    score = 0.0 if lacked or blunt else 1.0
    fields = {"task": task, "question": "Write `/app/x.csv`.", "expected": None, "answer": said, "score": score}
    return {**fields, "transcript": f"[told] [system]\n{TEXT}\n[said] {said}\n[told] reward 0", "error": error or None}


async def asked(task: str, seed: int = 0, name: str = "harness-writer", **data: Any) -> dict[str, Any]:
    text = "```json\n" + json.dumps({"task": task, "round": 1, **data}) + "\n```"
    return json.loads((await open_model(name).reply(Request.of(text, sampling=Sampling(seed=seed)))).text)


async def engineered(candidate: Candidate, items: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    limits = {"targets": list(ALL), "new_variables": new_variables(candidate, ALL), "value_chars": 20_000}
    return await asked("engineer", variables=chosen_variables(candidate, ALL), evidence=items, limits=limits, **more)


def values(reply: dict[str, Any]) -> dict[str, str | None]:
    return dict(edits_in(reply).values)


def test_every_lesson_that_words_teach_is_said_differently_when_it_is_lacked() -> None:
    lacked = [lesson.lacked for lesson in LESSONS.values() if lesson.lacked]
    assert len(set(lacked)) == len(lacked) == len(LESSONS) - 1


async def test_it_answers_every_form_of_the_optimizers() -> None:
    entries = [{"id": "r1-1", "text": LESSONS["sort"].says, "helpful": 1, "harmful": 0, "section": ""}]
    proposed = [{"operations": [{"do": "add", "text": LESSONS["clean"].says}]}]
    data = {
        "skillbook": entries,
        "experiences": entries,
        "lessons": [{"text": LESSONS["clean"].says}],
        "proposed": proposed,
    }
    # Whether an answer is right is asked within a task, of whom it is about; programs that a scorer measures are no harnesses.
    for form, made in ((form, made) for form, made in FORMS.items() if form not in ("assess", "evolve")):
        reply = await asked(form, variables={PROMPT: TEXT}, evidence=[item(0, ["clean"])], limits={}, **data)
        assert made.reply.keys() - {"helpful", "harmful"} <= reply.keys(), form
    with pytest.raises(ProviderError, match="cannot 'grade'"):
        await asked("grade")
    with pytest.raises(ProviderError, match="without a JSON block"):
        await open_model("harness-writer").reply(Request.of("Hello"))


async def test_what_the_verifier_prints_decides_what_is_blamed() -> None:
    for seed in range(5):
        evidence = item(0, ["numbers", "clean", "blanks"], error="AssertionError: ['a.txt', 'plan.tmp']")
        reply = await asked("lessons", seed, skillbook=[], evidence=[evidence])
        assert reply["lessons"][0]["section"] == "clean"
    silent = [await asked("lessons", s, skillbook=[], evidence=[item(0, ["numbers", "missing"])]) for s in range(9)]
    assert {reply["lessons"][0]["section"] for reply in silent} == {"numbers", "missing"}


async def test_the_prompt_is_rewritten_as_a_whole_and_what_does_not_fit_is_forgotten() -> None:
    names = [name for name in LESSONS if LESSONS[name].says]
    old = TEXT + "".join(f"- {LESSONS[name].says}\n" for name in names[:MOST])
    items = [item(0, names[MOST : MOST + 2]), item(1, (), names[3:4])]
    reply = await asked("improve", variables={PROMPT: old}, evidence=items, limits={"targets": ["prompt"]})
    text = values(reply)[PROMPT]
    assert text is not None
    assert text.startswith(TEXT)
    assert lessons_in(text) == {*names[MOST : MOST + 2], names[3], *names[:2]}
    short = {"targets": ["prompt"], "value_chars": len(TEXT) + 60}
    reply = await asked("improve", variables={PROMPT: old}, evidence=items, limits=short)
    assert len(values(reply)[PROMPT] or "") <= len(TEXT) + 60


async def test_gradients_and_signals_are_followed() -> None:
    gradients = [{"variable": PROMPT, "texts": [LESSONS["exact"].says]}]
    reply = await asked("improve", variables={PROMPT: TEXT}, evidence=[], limits={}, gradients=gradients)
    assert lessons_in(values(reply)[PROMPT] or "") == {"exact"}
    signal = (await asked("instruction", evidence=[item(0, ["edges"])]))["signal"]
    reply = await asked("improve", variables={PROMPT: TEXT}, evidence=[], limits={}, signal=signal)
    assert lessons_in(values(reply)[PROMPT] or "") == {"edges"}


async def test_sorting_in_vain_is_blamed_on_the_lesson_that_led_to_it() -> None:
    book = [{"id": "r1-1", "text": LESSONS["sort"].says, "helpful": 0, "harmful": 0, "section": "sort"}]
    reply = await asked("lessons", skillbook=book, evidence=[item(0, blunt=True)])
    assert (reply["harmful"], reply["lessons"][0]["section"]) == (["r1-1"], "order")
    helped = await asked("lessons", skillbook=book, evidence=[item(0, (), ["sort"])])
    assert (helped["helpful"], helped["harmful"], helped["lessons"]) == (["r1-1"], [], [])
    blamed = [{**book[0], "harmful": 1}]
    curated = await asked("curate", skillbook=blamed, lessons=reply["lessons"])
    assert [o["do"] for o in curated["operations"]] == ["retire", "add"]


async def test_in_a_group_that_counts_which_the_better_attempts_had() -> None:
    def summed(given: dict[str, Any]) -> dict[str, Any]:
        return {**given, "transcript": None, "summary": given["answer"]}

    group = [summed(item(0, ["numbers", "clean"])), summed(item(0, (), ["clean"]))]
    reply = await asked("compare", experiences=[], evidence=group)
    assert [o["text"] for o in reply["operations"]] == [LESSONS["clean"].says]
    twice = [{"operations": reply["operations"]}] * 2
    merged = await asked("consolidate", experiences=[], proposed=twice)
    assert len(merged["operations"]) == 1


async def test_as_engineer_it_writes_lessons_a_tool_and_a_middleware_that_can_be_built() -> None:
    candidate = candidate_from_folder(HARNESS)
    reply = await engineered(candidate, [item(3, ["clean", "tables"]), item(5, ["brief"]), item(6)])
    manifest = manifest_in({3, 5, 6}, reply)
    assert {TOOL, MIDDLEWARE, "memory/notes:memory.jsonl"} < manifest.values.keys()
    assert manifest.fixes == (3, 5)
    made = checked_edits(candidate, ALL, manifest.values)
    assert {tool.name for tool in build(made).parts.tools} == {"tables", "write-file"}
    assert lessons_in(build(made).parts.system) == {"clean"}
    again = await engineered(made, [item(3, ["clean", "tables"]), item(5, ["brief"])])
    assert again["edits"] == []


async def test_the_careless_one_forgets_to_return_until_it_is_told_of_it() -> None:
    candidate, items = candidate_from_folder(HARNESS), [item(5, ["brief"])]
    first = await engineered(candidate, items, name="harness-writer-careless")
    assert values(first)[MIDDLEWARE] == CARELESS_TEXT
    rejected = [{"round": 1, "edits": values(first), "reason": "contract gate: returned None", "difference": None}]
    second = await engineered(candidate, items, name="harness-writer-careless", rejected=rejected)
    assert values(second)[MIDDLEWARE] == MIDDLEWARE_TEXT
    assert values(await engineered(candidate, items))[MIDDLEWARE] == MIDDLEWARE_TEXT


@pytest.mark.parametrize("fenced", [False, True])
async def test_the_gepa_package_s_own_request_is_understood(fenced: bool) -> None:
    pytest.importorskip("gepa")
    from gepa.strategies.instruction_proposal import InstructionProposalSignature as Signature

    said = item(0, ["clean"])["transcript"] + ("\n```\nsome code\n```\n" if fenced else "")
    records = [
        {"Inputs": "Rename.", "Generated Outputs": said, "Feedback": "Score: 0.0\nError: ['plan.tmp']"},
        {"Inputs": "Count.", "Generated Outputs": item(1, ["edges"])["transcript"], "Feedback": "Score: 1.0"},
    ]
    current = TEXT + "\n```\nan example\n```\n" if fenced else TEXT
    given = {"current_instruction_doc": current, "dataset_with_feedback": records, "prompt_template": None}
    prompt = Signature.prompt_renderer(given)
    assert isinstance(prompt, str)
    reply = await open_model("harness-writer").reply(Request.of(prompt))
    text = Signature.output_extractor(reply.text)["new_instruction"]
    assert text == f"{current.strip()}\n- {LESSONS['clean'].says}"


@pytest.mark.slow
async def test_what_the_engineer_writes_mends_the_shipped_harness() -> None:
    if (reason := available()) is not None:
        pytest.skip(f"container tasks cannot be isolated here: {reason}")
    tasks = taskset("tasks/all")
    wanted = {"data/clean-table", "data/median-by-sensor", "shell/rename-by-date"}
    train = [task for task in tasks.draw("train", 8, 0) if task.id in wanted]
    candidate = candidate_from_folder(HARNESS)
    backend, programs = BubblewrapBackend(), SandboxedPrograms()
    try:
        runner = ContainerRunner(open_model("shell-worker"), backend=backend, programs=programs)

        async def tried(harness: Candidate, drawn: Sequence[Task]) -> list[dict[str, Any]]:
            jobs = [Job(tasks.info, harness, task, policy_seed=9) for task in drawn]
            ended = {position: made async for position, made in runner.run(jobs, Limits())}
            return [
                evidence_item(Outcome(p, t.total_reward, 1, t.status, t.failure, t), 2000)
                for p, t in sorted(ended.items())
            ]

        scores: list[float] = []
        for _ in range(5):
            items = await tried(candidate, train)
            scores.append(sum(entry["score"] for entry in items))
            reply = await engineered(candidate, items)
            if reply["edits"]:
                candidate = checked_edits(candidate, ALL, values(reply))
                assert await probe(candidate, programs) == ""
        assert scores[0] == 0
        assert scores[-1] == 3
        broken = checked_edits(candidate, ALL, {MIDDLEWARE: CARELESS_TEXT})
        assert "brief.py: after_tool returned None" in await probe(broken, programs)
        failed = await tried(broken, train)
        assert {entry["score"] for entry in failed} == {0.0}
        assert values(await engineered(broken, failed))[MIDDLEWARE] == MIDDLEWARE_TEXT
        assert (await engineered(broken, failed, name="harness-writer-careless"))["edits"] == []
    finally:
        await programs.close()
        await backend.close()
