"""Page of a run: its result and product, the protocol's sections, failures, versions."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from heredity.pages.report.sections import (
    Head,
    arranged,
    bare,
    failure_parts,
    headed,
    logged,
    notice,
    plain,
    taskset_notes,
    token_words,
    versions,
)
from heredity.pages.report.sentences import run_summary, state_of
from heredity.results import text
from heredity.results.charts import Reference, Strip
from heredity.results.claims import between, judged
from heredity.results.page import Code, Fact, Facts, Folded, Mean, Mono, Number, Page, Part, Section, Text, of_rows
from heredity.results.report import Report, Source, Sources, Words
from heredity.results.run import RunResults, RunStatus
from heredity.results.run import Verdict as Judged

MOST_LINES = 600
"""Maximum lines of a file on a page; a longer file is cut."""

_LANGUAGES = {"py": "python", "sh": "sh", "toml": "toml", "md": "markdown", "json": "json"}


def run_page(run: RunResults, report: Report, sources: Sources | None = None, labels: Sequence[Section] = ()) -> Page:
    """Return the page of a run.

    Args:
        run: its results; it may be unfinished.
        report: the protocol's part of the report.
        sources: its candidates' files; None if their records are not available.
        labels: sections about the labels of its rollouts.
    """
    words = report.words.against(run.reference.name if run.reference else None)
    run = bare(run) if run.stand_ins else run
    own = [*report.run(run), *labels]
    head = headed(Head((Text(run_summary(run, words), "summary"),), _facts(run, words), _warnings(run, words)), own)
    general = [
        _heldout(run, words),
        *_product(run, words, sources),
        taskset_notes([run]),
        _problems(run, words),
        *_agent(run),
        _reproduce(run, words),
    ]
    run_id = run.run_id or "unnamed run"
    details = [f"suite {run.suite_id}" if run.suite_id else "", f"seed {text.number(run.seed)}", run.family, run.group]
    page = Page(
        title=f"{text.short_task(run.taskset or 'unknown taskset')}: {run.evolver.name or 'unknown evolver'}",
        summary=head.summary,
        facts=head.facts,
        sections=arranged(general, own),
        subtitle=" · ".join([f"{run_id}: {run.status}", *(part for part in details if part)]),
        warnings=head.warnings,
        foot=words.foot,
        name=run_id,
    )
    return plain(page, notice(run.stand_ins)) if run.stand_ins else page


def _facts(run: RunResults, words: Words) -> Facts:
    heldout, gain, budget = run.heldout, run.gain, run.budget
    low, high = heldout.ci or (None, None) if heldout else (None, None)
    mean = heldout.mean if heldout else None
    places = text.decimals_for(text.spread_of([(low, high)]), mean)
    facts = [
        Fact(f"Held-out {words.score}", Mean(mean, low, high, places)),
        Fact(words.reference.capitalize(), Number(run.reference.heldout_mean if run.reference else None, places)),
    ]
    facts += [
        Fact(r.name.capitalize(), Number(r.heldout_mean, places), judged(r.gain))
        for r in run.further
        if r.gain is not None and r.gain.verdict is not Judged.BETTER
    ]
    if gain is not None:
        bounds = gain.ci or (None, None)
        facts.append(Fact("Paired gain", Mean(gain.difference, *bounds, signed=True), judged(gain)))
    if run.decisions:
        accepted = sum(d.accepted and bool(d.baseline) for d in run.decisions)
        facts.append(Fact("Commits", accepted, f"{sum(not d.accepted for d in run.decisions)} refused"))
    if run.selected is not None and run.selected.validation_mean is not None:
        where = f"submission {text.number(run.selected.index)}"
        if run.selection is not None:
            corrected, gap = text.number(run.selection.corrected, places), run.selection.gap
            side = "above" if gap is None or gap >= 0 else "below"
            apart = text.number(None if gap is None else abs(gap), places)
            where += f", best of {run.selection.candidates}; {corrected} when selected on other cases; {apart} {side} held-out"
        facts.append(Fact("Selected on validation", Number(run.selected.validation_mean, places), where))
    bought = "" if budget.episodes is None else f"of {text.number(budget.episodes)}"
    facts += [
        Fact(f"{words.rollouts.capitalize()} used", budget.used, bought or None),
        Fact("Submissions", len(run.submissions), f"{budget.rejected} rejected"),
        Fact(
            "Wall time of the evolver",
            Number(budget.wall_seconds, form="duration"),
            f"{text.plural(budget.resumes, 'resume')}; judging excluded",
        ),
    ]
    return Facts(tuple(facts))


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _warnings(run: RunResults, words: Words) -> tuple[Part, ...]:
    warnings: list[Part] = []
    if run.status is not RunStatus.FINISHED and not run.evolver_failure:
        partial = (
            f"; the held-out {words.score} above is partial" if run.heldout and run.heldout.mean is not None else ""
        )
        warnings.append(Text(f"This run {state_of(run)}, so it has no final result{partial}.", "warning"))
    if run.heldout and run.heldout.missing:
        missing = f"{text.plural(run.heldout.missing, 'held-out rollout')} missing and left out of the mean."
        if run.heldout.if_missing:
            missing += f" The mean is within {between(run.heldout.if_missing)}."
        warnings.append(Text(missing, "warning"))
    if run.model_usage and run.model_usage.unused:
        warnings.append(Text(text.clean(_sentence(run.model_usage.unused)), "warning"))
    if run.evolver_failure:
        warnings += failure_parts(run.evolver_failure)
    return tuple(warnings)


def _heldout(run: RunResults, words: Words) -> Section:
    heldout, title = run.heldout, f"Held-out {words.score}"
    if heldout is None or not heldout.scores:
        return Section("heldout", title, (Text(f"Not judged on {words.case}s yet.", "note"),), "lead", "page")
    reference = run.reference
    marked = None
    if reference is not None and reference.heldout_mean is not None:
        marked = Reference(reference.heldout_mean, words.mark)
    low, high = heldout.ci or (None, None)
    note = f"each tick is one {words.case}; {heldout.failures} failed, {heldout.missing} missing"
    values = tuple(score for score in heldout.scores if score is not None)
    strip = Strip(f"Every {words.case}", values, (heldout.mean, low, high), title.lower(), marked, note, counted=True)
    return Section("heldout", title, (strip,), "lead", "page")


def _product(run: RunResults, words: Words, sources: Sources | None) -> list[Section]:
    """Return the final candidate of the run: its source, and its differences from the initial one."""
    if run.selected is None:
        return []
    digest = run.selected.candidate
    source = sources(digest) if sources else None
    title = f"The {words.chosen} {words.product}"
    facts = [Fact("Digest of the candidate", Mono(digest))]
    if source is not None and source.blob:
        facts.append(Fact("Blob that holds it", Mono(f"blobs/{source.blob}")))
    codes = [
        _code(name, content, folded=i > 0) for i, (name, content) in enumerate((source.files if source else {}).items())
    ]
    sections = [Section("product", title, (Facts(tuple(facts)), *codes), "lead", "page")]
    changes = _recorded(run) if run.changes is not None else _compared(run, source, sources)
    if changes is not None:
        about = Text(f"From the initial {words.product} to the one that the run {words.chosen}.", "about")
        nothing = (Text("Nothing: the run ends with its initial candidate."),)
        sections.append(Section("changes", "What changed", (about, *(changes or nothing)), "lead"))
    return sections


def _code(name: str, content: str, *, folded: bool) -> Code:
    lines = content.splitlines()
    shown = "\n".join(lines[:MOST_LINES])
    note = text.plural(len(lines), "line")
    if len(lines) > MOST_LINES:
        note += f", the first {MOST_LINES} shown; the blob has all"
    return Code(shown, _LANGUAGES.get(name.rpartition(".")[2], "text"), name, note, folded)


def _recorded(run: RunResults) -> tuple[Part, ...]:
    parts: list[Part] = []
    for i, change in enumerate(run.changes or ()):
        size = "" if change.added is None else f", +{change.added} {text.MINUS}{change.removed} lines"
        title, note = f"{change.part}: {change.file}", f"{change.status}{size}"
        parts.append(
            Code(change.diff, "diff", title, note, folded=i > 0)
            if change.diff
            else Text(f"{title} ({note}): not text.")
        )
    return tuple(parts)


def _compared(run: RunResults, source: Source | None, sources: Sources | None) -> tuple[Part, ...] | None:
    """Return the differences between the files of the result and the first submission; None if either is not available."""
    first = sources(run.submissions[0].candidate) if sources and run.submissions else None
    if source is None or first is None or not (source.files or first.files):
        return None
    parts: list[Part] = []
    for name in sorted({*source.files, *first.files}):
        before, after = first.files.get(name, "").splitlines(), source.files.get(name, "").splitlines()
        lines = list(difflib.unified_diff(before, after, "first submission", "result", lineterm=""))
        if not lines:
            continue
        added = sum(line.startswith("+") for line in lines[2:])
        removed = sum(line.startswith("-") for line in lines[2:])
        note = f"+{added} {text.MINUS}{removed} lines"
        if len(lines) > MOST_LINES:
            note += f", the first {MOST_LINES} of the difference shown"
        parts.append(Code("\n".join(lines[:MOST_LINES]), "diff", name, note, folded=bool(parts)))
    return tuple(parts)


def _problems(run: RunResults, words: Words) -> Section:
    parts: list[Part] = []
    for s in run.submissions:
        if not (s.failures or s.failure or s.status not in ("ok", None)):
            continue
        kind = s.failure.category if s.failure else s.status or "unfinished"
        one_by_one = f"The {words.rollouts} failed individually; their errors are in the feedback of this submission."
        inner = failure_parts(s.failure) if s.failure else (Text(one_by_one),)
        note = f"{kind} · {s.failures} of {s.episodes} {words.rollouts} failed"
        parts.append(Folded(f"Submission {s.index}", inner, note))
    if not parts:
        parts.append(Text("No submission failed."))
    if run.evolver_failure:
        parts.insert(0, Folded("The evolver", failure_parts(run.evolver_failure), "failed"))
    return Section("problems", "Failures", tuple(parts), "detail", "page")


def _agent(run: RunResults) -> list[Section]:
    """Return the starts and exits of the agent, with its last output after an error."""
    if not run.starts:
        return []
    head = ["start", "exit code", "ended", "submissions", "seconds"]
    rows = [[s.number, s.code, s.reason or "interrupted", s.submissions, Number(s.seconds, 1)] for s in run.starts]
    failed = [s for s in run.starts if s.code and s.output]
    outputs = [Code(s.output, "text", f"Last lines of start {s.number}", f"exit code {s.code}") for s in failed]
    return [Section("agent", "Starts of the agent", (of_rows(head, rows), *outputs), "detail", "page")]


def _reproduce(run: RunResults, words: Words) -> Section:
    version = f", version {run.taskset_version}" if run.taskset_version else ""
    facts = [
        Fact("Isolation", run.isolation or "not recorded"),
        Fact("Packages", versions([run.packages])),
        Fact("Logged", logged([run])),
        Fact("Taskset", f"{run.taskset or 'unknown'}{version}"),
        Fact(f"{words.chosen.capitalize()} candidate", Mono(run.selected.candidate if run.selected else None)),
    ]
    if run.commitment:
        facts.append(Fact(f"Commitment to the {words.case}s", Mono(run.commitment)))
    if run.config_digest:
        facts.append(Fact("Digest of the configuration", Mono(run.config_digest)))
    if run.tokens:
        facts.append(Fact("Tokens", token_words(run.tokens, run.agent_accounts)))
    resources = dict.fromkeys(change.part for change in run.changes or () if "/" in change.part)
    log = [f"heredity resources log {name} --store resources.sqlite" for name in resources]
    commands = [
        *["# every version of what was evolved, with its parents", "heredity resources list --store resources.sqlite"],
        *log,
        *["", "# the run, step by step", "heredity trace ."],
        *["", f"# the same run, on newly drawn {words.case}s", "heredity run run.toml"],
        *["", "# this page, rebuilt from the journal", "heredity report ."],
    ]
    parts = (Facts(tuple(facts)), Code("\n".join(commands), "sh", "Run it again"))
    return Section("reproduce", "Lineage, versions and reproduction", parts, "detail", navigation="Reproduce")
