"""`heredity team submission`: writes a run's answers in the form of GAIA's leaderboard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer


def submission(
    run: Path = typer.Argument(help="Folder of a team-questions run on GAIA, or of a suite with one such run."),
    out: Path = typer.Option(Path("submission.jsonl"), "--out", help="File to write."),
    json_output: bool = typer.Option(False, "--json", help="Print the result as JSON and nothing else on stdout."),
) -> None:
    """Write the answers of a team to GAIA as the leaderboard takes them: JSON lines with task_id, model_answer and reasoning_trace.

    The file has a line for every question of your copy (GAIA's leaderboard requires a whole set). The trace is the plan of
    the team with the results of its steps.

    Example: heredity team submission runs/gaia-test --out submission.jsonl
    """
    from heredity._core.errors import ConfigError
    from heredity.team.team import write_whole

    folders = (
        [run] if (run / "journal.jsonl").exists() else sorted(path.parent for path in run.glob("runs/*/journal.jsonl"))
    )
    if len(folders) != 1:
        runs = ", ".join(str(folder) for folder in folders) or "no run"
        raise ConfigError(f"{run} holds {runs}; give the folder of one run")
    rows = submission_rows(folders[0])
    write_whole(out, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    empty = sum(not row["model_answer"] for row in rows)
    if json_output:
        typer.echo(json.dumps({"file": str(out), "questions": len(rows), "without_answer": empty}))
    else:
        without = f", {empty} of them without an answer" if empty else ""
        typer.echo(f"{out}: {len(rows)} questions{without}")


def submission_rows(folder: Path) -> list[dict[str, str]]:
    """Return the lines of a submission, in the order of the questions' ids.

    Args:
        folder: the folder of a run.

    Raises:
        ConfigError: if it is not a run of a team on GAIA, or a question (of the user's copy) was not asked or not tried.
        RecordError: if the run cannot be read.
    """
    from heredity._core.errors import ConfigError
    from heredity.protocols.team_questions.judge import MISSING, TEAM_ANSWERED, task_name
    from heredity.records import read_journal
    from heredity.records.events import RUN_STARTED
    from heredity.tasks import SPLITS
    from heredity.tasks.registry import taskset

    events = read_journal(folder / "journal.jsonl")
    started = RUN_STARTED.first(events)
    if started is None or not any(TEAM_ANSWERED.all(events)):
        raise ConfigError(f"{folder} has no answers of a team; run the protocol team-questions first")
    source = taskset(started["taskset"])
    sizes: Any = getattr(source, "sizes", {})
    questions = {task_name(task): task for split in SPLITS for task in source.draw(split, sizes.get(split, 0), 0)}
    ids = {name: str((task.spec.get("metadata") or {}).get("task_id", "")) for name, task in questions.items()}
    if not all(ids.values()):
        raise ConfigError(f"the questions of {started['taskset']} have no task_id; a submission is for questions/gaia")
    answered = {row["id"]: row for row in TEAM_ANSWERED.all(events) if row["status"] != MISSING}
    if lacking := sorted(ids.keys() - answered.keys()):
        raise ConfigError(
            f"{len(lacking)} of {len(ids)} questions have no record, such as {lacking[0]}; resume the run, or run "
            f"{started['taskset'].partition('?')[0]}?whole=true with views.heldout={len(ids)}"
        )
    return [_row(ids[name], answered[name]["answer"], folder / answered[name]["folder"]) for name in sorted(ids)]


def _row(task_id: str, answer: str, folder: Path) -> dict[str, str]:
    from heredity._core.outside import read_text

    plan = folder / "plan.md"
    return {
        "task_id": task_id,
        "model_answer": answer,
        "reasoning_trace": read_text(plan) if plan.exists() else "",
    }
