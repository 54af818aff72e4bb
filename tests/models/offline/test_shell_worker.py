from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
from tests.models.offline.container_driver import SHELL, TABLE, TASKS, attempted, folder_of, rewards

from heredity.library.models import model_names, open_model
from heredity.library.models.lessons import LESSONS, lessons_in, read_report, report
from heredity.library.models.shell_worker import ATTENTION, SWAMPED, task_table
from heredity.models import Message, Reply, Request, Sampling, ToolSpec
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.containers import BubblewrapBackend

NEEDS = {
    "count-errors": "depth numbers",
    "fix-permissions": "",
    "remove-duplicates": "blanks edges",
    "rename-by-date": "clean",
    "link-newest": "clean numbers",
    "split-log": "edges",
    "archive-project": "blanks depth",
    "size-report": "blanks numbers",
    "tidy-names": "blanks clean",
    "clean-table": "missing tables",
    "flatten-json": "missing sort",
    "join-orders": "exact tables",
    "median-by-sensor": "missing sort",
    "merge-settings": "",
    "pivot-sales": "numbers sort",
    "convert-payments": "exact",
    "find-sessions": "edges sort",
    "merge-contacts": "",
    "postfix-calculator": "edges exact",
    "repair-statistics": "edges",
    "roman-numbers": "",
    "wrap-text": "",
    "bounded-cache": "",
    "order-by-needs": "edges sort",
    "mend-ledger": "exact sort tables",
    "run-length": "edges",
}
SWAMPING = {"median-by-sensor", "split-log", "find-sessions"}
HARMED_BY_SORTING = {"clean-table", "split-log", "merge-contacts"}


@pytest.fixture
async def backend() -> AsyncIterator[BubblewrapBackend]:
    if (reason := available()) is not None:
        pytest.skip(f"container tasks cannot be isolated here: {reason}")
    made = BubblewrapBackend()
    yield made
    await made.close()


def told(*names: str) -> str:
    return "\n".join(f"- {LESSONS[name].says}" for name in names)


def asked(task: str) -> Message:
    return Message("user", (folder_of(task) / "instruction.md").read_text())


async def reply_to(*messages: Message, tools: tuple[ToolSpec, ...] = (SHELL,), seed: int | None = None) -> Reply:
    return await open_model("shell-worker").reply(Request(messages, tools, Sampling(seed=seed)))


async def command_of(task: str, system: str = "", result: str = "", seed: int | None = None) -> str:
    """Return what the worker runs once it has looked at the data, if it does, with `result` as what it saw."""
    talk = [Message("system", system), asked(task)]
    reply = await reply_to(*talk, seed=seed)
    if task_table()[task].looks:
        talk += [reply.message, Message("tool", result, tool_call_id=reply.tool_calls[0].id)]
        reply = await reply_to(*talk, seed=seed)
    return json.loads(reply.tool_calls[0].arguments)["command"]


def test_every_shipped_task_is_known_by_its_instruction_and_by_no_other() -> None:
    shipped = {path.parent.name: path.read_text() for path in TASKS.glob("*/*/instruction.md")}
    assert {"shell-worker", "harness-writer", "harness-writer-careless"} <= set(model_names())
    assert {name: " ".join(sorted(task.needs)) for name, task in task_table().items()} == NEEDS
    assert shipped.keys() == NEEDS.keys()
    for name, text in shipped.items():
        assert [t.name for t in task_table().values() if all(cue in text for cue in t.cues)] == [name]


@pytest.mark.parametrize("name", [name for name, lesson in LESSONS.items() if lesson.says])
def test_a_lesson_s_own_sentence_teaches_it_and_nothing_else(name: str) -> None:
    assert lessons_in(LESSONS[name].says) == {name}


def test_lessons_may_be_told_in_other_words_but_not_by_halves() -> None:
    assert lessons_in("File names may contain spaces: always quote them.") == {"blanks"}
    assert lessons_in("Walk directories recursively") == {"depth"}
    assert lessons_in("Do not use floats for money, use decimals") == {"exact"}
    assert lessons_in("Preserve the original order of rows.") == {"order"}
    assert lessons_in("Handle edge cases") == {"edges"}
    assert lessons_in("Quote people. There are blanks.") == lessons_in("Sort yourself out") == frozenset()


def test_a_report_is_read_as_it_was_meant() -> None:
    assert read_report(report(["blanks", "brief"], ["sort"], blunt=False)) == (["blanks", "brief"], ["sort"])
    assert read_report(report(["tables"], [], blunt=True)) == (["tables", "order"], ["sort"])
    assert read_report("I do not know this task.") == ([], [])


async def test_an_unknown_task_and_a_missing_shell_are_said_and_nothing_is_done() -> None:
    unknown = await reply_to(Message("user", "Write a poem into /app/poem.txt."))
    assert (unknown.tool_calls, unknown.text[:22]) == ((), "I do not know this tas")
    bare = await reply_to(asked("roman-numbers"), tools=())
    assert (bare.tool_calls, "no shell" in bare.text) == ((), True)


async def test_long_results_make_it_lose_every_lesson() -> None:
    lessons = told("edges")
    calm, swamped = [await command_of("split-log", lessons, "x" * n) for n in (SWAMPED, SWAMPED + 1)]
    assert "!/^ /" in calm
    assert swamped == await command_of("split-log")


async def test_of_a_long_system_message_the_middle_is_not_taken_in() -> None:
    filler = "word " * ATTENTION
    early, late, middle = told("clean") + filler, filler + told("clean"), filler + told("clean") + " word" * ATTENTION
    plain = await command_of("rename-by-date")
    assert await command_of("rename-by-date", middle) == plain
    assert await command_of("rename-by-date", early) == await command_of("rename-by-date", late) != plain


async def test_the_narrow_worker_takes_in_less_of_the_same_message() -> None:
    crowded = Message("system", ("word " * 60) + told("clean") + (" word" * 60))
    task = asked("rename-by-date")
    shell = ToolSpec("shell", "Runs a command.", {"type": "object"})
    replies = {
        name: [await open_model(name).reply(Request(talk, tools=(shell,))) for talk in ((task,), (crowded, task))]
        for name in ("shell-worker", "shell-worker-narrow")
    }
    texts = {name: [reply.tool_calls[0].arguments for reply in pair] for name, pair in replies.items()}
    assert texts["shell-worker"][0] != texts["shell-worker"][1]
    assert len({*texts["shell-worker-narrow"], texts["shell-worker"][0]}) == 1


async def test_by_luck_it_does_the_right_thing_about_as_often_as_is_said_and_the_same_for_a_seed() -> None:
    scripts = [await command_of("run-length", seed=seed) for seed in range(300)]
    plain, lucky = await command_of("run-length"), await command_of("run-length", told("edges"))
    assert set(scripts) == {plain, lucky}
    assert 0.08 < scripts.count(lucky) / 300 < 0.23
    assert scripts[:9] == [await command_of("run-length", seed=seed) for seed in range(9)]


async def test_a_tool_for_tables_is_asked_and_only_what_it_says_counts() -> None:
    talk = [asked("join-orders")]
    first = await reply_to(*talk, tools=(SHELL, TABLE))
    assert (first.tool_calls[0].name, first.tool_calls[0].arguments) == ("table", '{"path": "/app/customers.csv"}')
    scripts: list[str] = []
    for said in ('{"quoted": true}', '{"quoted": false}', "error: no such file"):
        result = Message("tool", said, tool_call_id=first.tool_calls[0].id)
        scripts.append((await reply_to(*talk, first.message, result, tools=(SHELL, TABLE))).tool_calls[0].arguments)
    assert "csv.reader" in scripts[0]
    assert scripts[1] == scripts[2] != scripts[0]


@pytest.mark.parametrize(
    ("name", "solved"), [("roman-numbers", True), ("rename-by-date", False), ("join-orders", False)]
)
async def test_a_bare_worker_solves_some_tasks_and_says_what_it_took_for_granted(
    backend: BubblewrapBackend, name: str, solved: bool
) -> None:
    done, talk = await attempted(backend, name, "")
    assert (done.verdict.status, done.verdict.reward) == ("ok", float(solved))
    assert set(NEEDS[name].split()) <= set(read_report(talk[-1].content)[0])


async def test_with_its_lessons_the_worker_solves_a_task_in_few_turns(backend: BubblewrapBackend) -> None:
    done, talk = await attempted(backend, "join-orders", told("exact"), tool=True)
    assert done.verdict.reward == 1.0
    assert sum(m.role == "assistant" for m in talk) == 3
    assert read_report(talk[-1].content) == (["sort"], ["exact", "tables"])


@pytest.mark.slow
async def test_a_task_is_solved_with_all_of_its_lessons_and_with_none_of_them_missing(
    backend: BubblewrapBackend,
) -> None:
    expected: dict[tuple[str, str, bool, bool], float] = {}
    for name, needed in NEEDS.items():
        needs = needed.split()
        words = [n for n in needs if n != "tables"]
        trial = name, told(*words), "tables" in needs
        expected[*trial, True] = 1.0
        if name in SWAMPING:
            expected[*trial, False] = 0.0
        for lacked in needs:
            system = told(*(n for n in words if n != lacked))
            expected[name, system, "tables" in needs and lacked != "tables", True] = 0.0
        if "sort" not in needs:
            expected[name, told(*words, "sort"), "tables" in needs, True] = float(name not in HARMED_BY_SORTING)
            expected[name, told(*words, "sort", "order"), "tables" in needs, True] = 1.0
    earned = await rewards(backend, list(expected))
    assert dict(zip(expected, earned, strict=True)) == expected
