"""Tampering that `heredity verify` finds: kinds of changes to published folders of all protocols, beside honest folders.

    python benchmarks/tamper.py --json

Each kind is one change by an owner who knows how folders are made: after it the hash chain is computed again, and reports,
figures, cards and the best candidate are rebuilt, unless the change is to one of those. `derivable` kinds contradict something
else in the folder, or what its candidates and methods do when they run again. The others need an anchor (docs/verify.md).
A kind is found if a check fails. On an honest folder every failed check is a false alarm.
"""

# ruff: noqa: E501 - one row a kind of tampering

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from tamper_folders import corpus

from heredity._core.ids import canonical_json, digest_json
from heredity._core.workers import process_pool
from heredity.experiments.results import rebuild
from heredity.experiments.verification.verify import Asked, verify
from heredity.records import BlobStore, config_digest, load_config

Lines = list[dict[str, Any]]
Change = Callable[[Lines], Any]


PLAIN = Asked()


@dataclass(frozen=True)
class Kind:
    """One kind of tampering.

    Attributes:
        name: what is changed.
        folder: name of the honest folder that is changed.
        change: changes a copy of it.
        derivable: whether the folder contradicts it.
        asked: what has to be asked of `verify`.
        rebuilt: whether everything derived is made anew afterwards.
    """

    name: str
    folder: str
    change: Callable[[Path], Any]
    derivable: bool = True
    asked: Asked = field(default_factory=Asked)
    rebuilt: bool = True


def double(value: int) -> int:
    """Return twice a charge."""
    return 2 * value


class Kinds(Protocol):
    """Makes kinds of tampering with one honest folder."""

    def __call__(
        self,
        name: str,
        change: Callable[[Path], Any],
        *,
        derivable: bool = True,
        asked: Asked = ...,
        rebuilt: bool = True,
    ) -> Kind:
        """Return a kind; see its attributes."""
        ...


def in_folder(folder: str) -> Kinds:
    """Return what makes kinds of tampering with an honest folder."""

    def kind(
        name: str, change: Callable[[Path], Any], *, derivable: bool = True, asked: Asked = PLAIN, rebuilt: bool = True
    ) -> Kind:
        return Kind(name, folder, change, derivable, asked, rebuilt)

    return kind


def run_of(folder: Path, number: int = 0) -> Path:
    """Return a run of a suite."""
    return sorted((folder / "runs").iterdir())[number]


def lines_of(run: Path) -> Lines:
    """Read a journal."""
    return [json.loads(line) for line in (run / "journal.jsonl").read_bytes().splitlines()]


def write_lines(run: Path, lines: Lines) -> None:
    """Write a journal with its numbers and its chain computed again."""
    head, written = bytes(32), b""
    for seq, line in enumerate(lines):
        payload = canonical_json({**{key: value for key, value in line.items() if key != "chain"}, "seq": seq})
        head = hashlib.sha256(head + payload).digest()
        written += payload[:-1] + b',"chain":"' + head.hex().encode() + b'"}\n'
    (run / "journal.jsonl").write_bytes(written)


def journal(change: Change, number: int = 0) -> Callable[[Path], None]:
    """Return a change of a run's journal."""

    def apply(folder: Path) -> None:
        run = run_of(folder, number)
        lines = lines_of(run)
        change(lines)
        write_lines(run, lines)

    return apply


def of_kind(lines: Lines, kind: str) -> Lines:
    """Return the lines of a kind."""
    return [line for line in lines if line["kind"] == kind]


def setting(kind: str, name: str, value: Any, place: int = 0) -> Change:
    """Return a change of one field of an event; a function is given the old value."""

    def apply(lines: Lines) -> None:
        data = of_kind(lines, kind)[place]["data"]
        data[name] = value(data[name]) if callable(value) else value

    return apply


def written(name: str, change: Callable[[str], str]) -> Callable[[Path], None]:
    """Return a change of a file's text; the file is the first that a pattern matches."""

    def apply(folder: Path) -> None:
        path = sorted(folder.glob(name))[0]
        path.write_text(change(path.read_text(errors="surrogateescape")), errors="surrogateescape")

    return apply


def planted(name: str, content: bytes = b"<html>We won.</html>") -> Callable[[Path], None]:
    """Return the addition of a file."""

    def apply(folder: Path) -> None:
        run = run_of(folder).name
        path = folder / name.replace("RUN", f"runs/{run}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    return apply


def removed(pattern: str) -> Callable[[Path], None]:
    """Return the removal of a file or folder."""

    def apply(folder: Path) -> None:
        path = sorted(folder.glob(pattern))[0]
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    return apply


def linked(pattern: str) -> Callable[[Path], None]:
    """Return the replacement of a file by a link to a copy of it."""

    def apply(folder: Path) -> None:
        path = sorted(folder.glob(pattern))[0]
        other = (
            path.with_name(path.name + ".original")
            if path.parent == folder
            else folder.parent / ("original-" + path.name)
        )
        path.rename(other)
        path.symlink_to(other)

    return apply


def opened(change: Callable[[dict[str, Any]], Any], *, committed: bool = False) -> Callable[[Path], None]:
    """Return a change of the opened cases; with `committed`, the commitment is made anew, in the journal too."""

    def apply(folder: Path) -> None:
        run = run_of(folder)
        data = json.loads((run / "opened.json").read_bytes())
        change(data)
        if committed:
            data["digest"] = digest_json(data["cases"])
            data["commitment"] = hashlib.sha256(bytes.fromhex(data["salt"]) + canonical_json(data["cases"])).hexdigest()
            lines = lines_of(run)
            lines[0]["data"]["commitment"] = data["commitment"]
            of_kind(lines, "cases.judged")[0]["data"]["commitment"] = data["commitment"]
            write_lines(run, lines)
        (run / "opened.json").write_bytes(canonical_json(data) + b"\n")

    return apply


def configured(old: str, new: str, *, everywhere: bool = False) -> Callable[[Path], None]:
    """Return a change of run.toml with its digest in the journal; `everywhere` also of suite.toml and all runs."""

    def apply(folder: Path) -> None:
        runs = sorted((folder / "runs").iterdir()) if everywhere else [run_of(folder)]
        for path in [run / "run.toml" for run in runs] + ([folder / "suite.toml"] if everywhere else []):
            text = path.read_text()
            assert old in text, (old, path)
            path.write_text(text.replace(old, new))
        for run in runs:
            lines = lines_of(run)
            lines[0]["data"]["config_digest"] = config_digest(load_config(run))
            write_lines(run, lines)

    return apply


def both(*changes: Callable[[Path], Any]) -> Callable[[Path], None]:
    """Return several changes as one."""

    def apply(folder: Path) -> None:
        for change in changes:
            change(folder)

    return apply


def add(amount: float) -> Callable[[Any], Any]:
    """Return a function that adds to a number, or to the first of a list."""
    return lambda value: [value[0] + amount, *value[1:]] if isinstance(value, list) else value + amount


def relabelled(folder: Path) -> None:
    """Give the run of one method the record of another's."""
    best, parametric = (
        next(p for p in (folder / "runs").iterdir() if f"--{name}--s0" in p.name)
        for name in ("best-of-n", "parametric")
    )
    start = lines_of(parametric)[0]
    lines = lines_of(best)
    lines[0] = start
    for name in ("blobs",):
        shutil.rmtree(parametric / name)
        shutil.copytree(best / name, parametric / name)
    write_lines(parametric, lines)


def copied_seed(folder: Path, *, shifted: bool = False) -> None:
    """Give one seed the record of another."""
    first, second = (
        next(p for p in (folder / "runs").iterdir() if f"--best-of-n--s{seed}" in p.name) for seed in (0, 1)
    )
    start = lines_of(second)[0]
    lines = lines_of(first)
    lines[0] = start
    for line in lines:
        if shifted and "seconds" in line["data"] and isinstance(line["data"]["seconds"], float):
            line["data"]["seconds"] = round(line["data"]["seconds"] * 1.1, 6)
    shutil.rmtree(second / "blobs")
    shutil.copytree(first / "blobs", second / "blobs")
    write_lines(second, lines)


def swapped(folder: Path) -> None:
    """Swap the journals and blobs of two runs."""
    one, two = run_of(folder, 0), run_of(folder, 1)
    for name in ("journal.jsonl", "blobs", "run.toml", "opened.json"):
        (one / name).rename(folder / "held")
        (two / name).rename(one / name)
        (folder / "held").rename(two / name)


def forged_replay(status: str | None = None, **fields: Any) -> Change:
    """Return a forged held-out score of the selected candidate, with what once exempted it from being played again."""

    def apply(lines: Lines) -> None:
        data = next(line["data"] for line in of_kind(lines, "judging.scored") if line["data"]["view"] == "heldout")
        data["scores"] = [500.0 for _ in data["scores"]]
        if status:
            data["statuses"] = [status for _ in data["scores"]]
        data.update({name: value for name, value in fields.items() if name != "started"})
        lines[0]["data"].update(fields.get("started", {}))

    return apply


def fitting_heldout(lines: Lines) -> None:
    """Forge a held-out score within what the environment allows."""
    data = next(line["data"] for line in of_kind(lines, "judging.scored") if line["data"]["view"] == "heldout")
    data["scores"] = [min(500.0, score + 1.0) for score in data["scores"]]


def field_kinds(folder: str, path: Path) -> Iterator[Kind]:
    """Yield a change of every field of every kind of event of a folder, an unknown field, and moves of every event."""
    lines = lines_of(run_of(path))
    seen: set[str] = set()
    for line in lines:
        kind = line["kind"]
        if kind in seen:
            continue
        seen.add(kind)
        yield Kind(f"{folder}: {kind}: unknown field", folder, journal(setting_new(kind)))
        yield Kind(f"{folder}: {kind}: second one at the end", folder, journal(duplicated(kind)))
        for name, value in line["data"].items():
            if (kind, name) in UNDERIVED or kind in UNDERIVED_KINDS:
                continue
            changed = other_value(value)
            if changed is not None:
                asked = METHODS if kind.startswith("within.") else PLAIN  # what the method itself wrote
                yield Kind(f"{folder}: {kind}.{name}", folder, journal(setting(kind, name, changed)), asked=asked)


UNDERIVED_KINDS = frozenset(
    {"heartbeat", "agent.started", "agent.ended", "agent.usage", "agent.tool", "evolver.failed", "reply.unused"}
)
"""Measurements of time, and what outside agents say of themselves."""
UNDERIVED = frozenset(
    {
        ("run.started", "isolation"), ("run.started", "packages"), ("run.started", "plugins"), ("run.started", "cases_known"),
        ("run.started", "suite_id"), ("run.started", "taskset_version"),
        ("submission.admitted", "at_s"), ("submission.completed", "seconds"), ("submission.completed", "rollout_seconds"),
        ("candidate", "note"), ("candidate", "parents"), ("judging.scored", "seconds"), ("judging.scored", "usage"),
        ("judging.scored", "scores"), ("judging.scored", "lengths"), ("reference.scored", "scores"), ("judging.scored", "statuses"),
        ("judging.scored", "recalled"), ("snapshot.assessed", "recalled"), ("submission.rejected", "message"),
        ("submission.rejected", "key"), ("submission.rejected", "category"), ("candidate.decided", "reason"),
        ("candidate.decided", "difference"), ("candidate.decided", "interval"), ("candidate.decided", "pairs"),
        ("candidate.decided", "tolerance"), ("candidate.decided", "submissions"), ("candidate.decided", "baseline"),
        ("submission.admitted", "key"), ("model.called", "purpose"),
    }
)  # fmt: skip
"""Fields that only a replay or an anchor reveals; those that a replay reveals have kinds of their own."""


def setting_new(kind: str) -> Change:
    """Return the addition of an unknown field to an event."""
    return lambda lines: of_kind(lines, kind)[0]["data"].__setitem__("exempt", True)


def duplicated(kind: str) -> Change:
    """Return the repetition of an event as the last line but one."""
    return lambda lines: lines.insert(len(lines), dict(of_kind(lines, kind)[0]))


def other_value(value: Any) -> Any:
    """Return another value of the same type; None if there is none."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return value[:-1] + ("0" if value[-1:] != "0" else "1") if value else "something"
    if isinstance(value, list) and value:
        return value[:-1] if len(value) > 1 else [*value, *value]
    if isinstance(value, dict) and value:
        name = sorted(value)[0]
        inner = other_value(value[name])
        return {**value, name: inner} if inner is not None else None
    return None


CANDIDATES, METHODS = Asked(candidates=True), Asked(methods=True)


def own_kinds() -> Iterator[Kind]:
    """Yield kinds that are thought out one by one."""
    policy, several, agent = in_folder("policy-one"), in_folder("policy"), in_folder("agent")
    heldout = "judging.scored"
    yield policy("held-out scores forged", journal(fitting_heldout), asked=CANDIDATES)
    for status in ("rollout_timeout", "init_timeout", "oom", "act_error", "missing", "model_error", "invented"):
        yield policy(f"held-out 500 with status {status}", journal(forged_replay(status)), asked=CANDIDATES)
    yield policy("held-out 500 with a model", journal(forged_replay(model="openai/gpt-5")), asked=CANDIDATES)
    yield policy(
        "held-out 500 with another taskset_version",
        journal(forged_replay(started={"taskset_version": "9"})),
        asked=CANDIDATES,
    )
    yield policy(
        "held-out 500 with an execution model",
        journal(forged_replay(started={"execution": "openai/gpt-5"})),
        asked=CANDIDATES,
    )
    yield policy(
        "held-out 500 with other packages",
        journal(forged_replay(started={"packages": {"gymnasium": "0.1"}, "taskset_version": "9"})),
        asked=CANDIDATES,
    )
    yield policy(
        "held-out view not opened",
        both(journal(fitting_heldout), opened(lambda d: d["views"].pop("heldout"))),
        asked=CANDIDATES,
    )
    yield policy("reference made worse", journal(setting("reference.scored", "scores", add(-3.0))), asked=CANDIDATES)
    yield policy(
        "held-out length forged, 500 steps", journal(setting(heldout, "scores", add(7.0), 1)), asked=CANDIDATES
    )
    yield several("best-of-n relabelled as parametric", relabelled, asked=METHODS)
    yield several("a seed that is a copy of another", copied_seed)
    yield several(
        "a seed that is a copy of another, with other times", lambda f: copied_seed(f, shifted=True), asked=METHODS
    )
    yield several("journals of two runs swapped", swapped)
    yield several("a run removed", removed("runs/*s1"))
    yield policy("a run twice", lambda f: shutil.copytree(run_of(f), f / "runs" / "again"))
    for pattern in (
        "suite.toml", "metrics.json", "card.json", "report.html", "report.md", "tables/*", "best",
        "runs/*/run.toml", "runs/*/metrics.json", "runs/*/card.json", "runs/*/report.html", "runs/*/report.md",
        "runs/*/opened.json", "runs/*/blobs/*/*", "runs/*/best", "runs/*/resources.sqlite", "runs/*/tables/*",
    ):  # fmt: skip
        yield policy(f"{pattern} removed", removed(pattern), rebuilt=False)
    for pattern in ("suite.toml", "report.html", "metrics.json", "runs/*/journal.jsonl", "runs/*/run.toml", "runs/*/report.html",
                    "runs/*/blobs/*/*", "runs/*/best/policy.py", "runs/*/opened.json"):  # fmt: skip
        yield policy(f"{pattern} behind a link", linked(pattern), rebuilt=False)
    for name in ("index.html", "README.html", "RUN/index.html", "RUN/results.json", "tables/more.csv", "best/extra.py", "RUN/best/x.py",
                 "RUN/blobs/aa/" + "a" * 64, "RUN/tables/more.csv", "runs/index.html", ".hidden", "RUN/.hidden", "RUN/figures/a.png"):  # fmt: skip
        yield policy(f"{name} planted", planted(name), rebuilt=False)
    for name, old, new in (
        ("report.html", "</h1>", " wins</h1>"), ("report.html", "<body", "<body data-x"), ("report.md", "\n", "\nWe won.\n"),
        ("runs/*/report.html", "</h1>", " wins</h1>"), ("runs/*/report.md", "\n", "\nWe won.\n"), ("tables/*", "\n", "\nx\n"),
        ("runs/*/tables/*", "\n", "\nx\n"), ("runs/*/best/policy.py", "\n", "\n# mine\n"), ("best/policy.py", "\n", "\n# mine\n"),
        ("metrics.json", '"runs": 1', '"runs": 5'), ("card.json", '"heredity"', '"heredity" '), ("runs/*/metrics.json", '"seed": 0', '"seed": 7'),
    ):  # fmt: skip
        change = written(name, lambda text, old=old, new=new: text.replace(old, new, 1))
        if name != "card.json":
            yield policy(f"{name} edited: {new.strip()[:12]}", change, rebuilt=False)
    yield policy(
        "a figure in metrics.json",
        written("runs/*/metrics.json", lambda t: t.replace('"mean": ', '"mean": 1', 1)),
        rebuilt=False,
    )
    yield policy(
        "a figure in card.json", written("card.json", lambda t: t.replace('"value": ', '"value": 1', 1)), rebuilt=False
    )
    yield policy(
        "checks claimed in card.json",
        written("card.json", lambda t: t.replace('"checks": []', '"checks": [1]')),
        rebuilt=False,
    )
    yield policy(
        "a line of the chain changed",
        written("runs/*/journal.jsonl", lambda t: t.replace('"seed":0', '"seed":1', 1)),
        rebuilt=False,
    )
    yield policy("the journal cut", journal(lambda lines: lines.__delitem__(slice(-1, None))))
    yield policy("the journal cut in a line", written("runs/*/journal.jsonl", lambda t: t[:-9]), rebuilt=False)
    yield policy(
        "a submission left out",
        journal(lambda lines: [lines.remove(x) for x in lines[:] if x["data"].get("submit_id") == 2]),
    )
    yield policy("budget doubled", configured("episodes = 8", "episodes = 16"))
    yield policy("budget doubled everywhere", configured("episodes = 8", "episodes = 16", everywhere=True))
    yield policy("seed of run.toml changed", configured("seeds = [\n    0,\n]", "seeds = [\n    1,\n]"))
    yield policy("views of run.toml changed", configured("heldout = 3", "heldout = 4"))
    yield policy("limits changed everywhere", configured("episode_s", "episode_s "), derivable=False)
    yield policy("budget of the start doubled", journal(lambda ls: ls[0]["data"]["budget"].update(episodes=16)))
    yield policy("charge of 0", journal(setting("submission.admitted", "charge", 0)))
    yield policy("charge doubled", journal(setting("submission.admitted", "charge", double)))
    yield policy("remaining not reduced", journal(setting("submission.admitted", "remaining", 8)))
    yield policy(
        "completed before admitted",
        journal(lambda ls: ls.insert(1, ls.pop(ls.index(of_kind(ls, "submission.completed")[0])))),
    )
    yield policy("closed first", journal(lambda ls: ls.insert(1, ls.pop(ls.index(of_kind(ls, "session.closed")[0])))))
    yield policy("finished before judged", journal(lambda ls: ls.insert(-3, ls.pop())))
    yield policy("events after the end", journal(lambda ls: ls.append(dict(of_kind(ls, "heartbeat")[0]))))
    yield policy("judged before closed", journal(lambda ls: ls.insert(3, ls.pop(ls.index(of_kind(ls, heldout)[0])))))
    yield policy("two starts", journal(lambda ls: ls.insert(1, dict(ls[0]))))
    yield policy("a time moved back a day", journal(lambda ls: ls[-1].update(at=ls[-1]["at"] - 86400)))
    yield policy("a time in the future", journal(lambda ls: ls[-1].update(at=ls[-1]["at"] + 9e7)))
    yield policy("a time that is none", journal(lambda ls: ls[0].update(at=-1.0)))
    yield policy("the clock runs back", journal(setting("submission.admitted", "at_s", -5.0)))
    yield policy("the clock outruns time", journal(setting("session.closed", "reason", "finished")))
    yield policy("the clock jumps", journal(lambda ls: of_kind(ls, "heartbeat")[-1]["data"].update(clock_s=99999.0)))
    yield policy(
        "all times moved by a year", journal(lambda ls: [x.update(at=x["at"] - 3e7) for x in ls]), derivable=False
    )
    yield policy("a rollout that took a day", journal(setting("submission.completed", "seconds", 86400.0)))
    yield policy("another selection", journal(setting("judging.selected", "candidate", "0" * 64)))
    yield policy("another reason for the selection", journal(setting("judging.selected", "reason", "the best by far")))
    yield policy("no selection", journal(lambda ls: ls.remove(of_kind(ls, "judging.selected")[0])))
    yield policy("a validation left out", journal(lambda ls: ls.remove(of_kind(ls, heldout)[0])))
    yield policy("a validation improved", journal(setting(heldout, "scores", add(400.0))), asked=CANDIDATES)
    yield policy("a reference left out", journal(lambda ls: ls.remove(of_kind(ls, "reference.scored")[-1])))
    yield policy("a reference renamed", journal(setting("reference.scored", "name", "best known")))
    yield policy("a finished run called failed", journal(setting("run.finished", "status", "failed")))
    yield policy("cases not judged", journal(lambda ls: ls.remove(of_kind(ls, "cases.judged")[0])))
    yield policy(
        "a resumption invented",
        journal(lambda ls: ls.insert(3, {**ls[2], "kind": "run.resumed", "data": {"attempt": 4, "reason": "x"}})),
    )
    yield policy("an unknown event", journal(lambda ls: ls.insert(3, {**ls[2], "kind": "judge.praised", "data": {}})))
    yield policy(
        "an event of another protocol",
        journal(
            lambda ls: ls.insert(-2, {**ls[-1], "kind": "snapshots.frozen", "data": {"points": [], "trained": {}}})
        ),
    )
    yield policy(
        "a candidate's blob of another",
        journal(
            lambda ls: of_kind(ls, "candidate")[0]["data"].update(blob=of_kind(ls, "candidate")[1]["data"]["blob"])
        ),
    )
    yield policy(
        "trajectories of another submission",
        journal(
            lambda ls: of_kind(ls, "submission.completed")[0]["data"].update(
                blob=of_kind(ls, "submission.completed")[1]["data"]["blob"]
            )
        ),
    )
    yield policy("train scores with new trajectories, played again", richer, asked=CANDIDATES)
    yield policy(
        "a hidden case exchanged",
        opened(lambda d: next(iter(d["cases"].values()))["heldout"][0]["spec"].update(seed=1)),
    )
    yield policy(
        "a hidden case exchanged, committed anew",
        opened(lambda d: next(iter(d["cases"].values()))["heldout"][0]["spec"].update(seed=1), committed=True),
    )
    yield policy("another entropy", opened(lambda d: d.update(entropy="ab" * 32)))
    yield policy("another salt", opened(lambda d: d.update(salt="ab" * 32)))
    yield policy(
        "another salt, committed anew", opened(lambda d: d.update(salt="ab" * 32), committed=True), derivable=False
    )
    yield policy("fewer opened cases", opened(lambda d: next(iter(d["cases"].values()))["heldout"].pop()))
    yield policy("a field more in opened.json", opened(lambda d: d.update(note="trust me")))
    yield policy("another version of opened.json", opened(lambda d: d.update(schema_version=1)))
    yield policy("a method's option changed", configured('method = "best-of-n"', 'method = "random"'))
    yield several("a cell of suite.toml removed", written("suite.toml", lambda t: t.replace("seeds = 2", "seeds = 1")))
    yield several("suite.toml of more seeds", written("suite.toml", lambda t: t.replace("seeds = 2", "seeds = 3")))
    yield policy("the suite run again and the best published", lambda f: None, derivable=False)
    yield policy(
        "cases known but not said", journal(lambda ls: ls[0]["data"].update(isolation="none")), derivable=False
    )
    yield agent("agent: ended twice", journal(lambda ls: ls.insert(-3, dict(of_kind(ls, "agent.ended")[0]))))
    yield agent("agent: a free submission", journal(setting("submission.admitted", "charge", 0)))
    yield agent("agent: held-out forged", journal(fitting_heldout), asked=CANDIDATES)
    yield Kind("sequence: a look improved", "policy-sequence", sequenced, rebuilt=True)


def sequenced(folder: Path) -> None:
    """Forge the p-value of a look of a sequential suite."""
    path = folder / "sequence.jsonl"
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    for line in of_kind(lines, "sequence.looked"):
        line["data"]["p"] = 0.0001
    path.rename(folder / "journal.jsonl")
    write_lines(folder, lines)
    (folder / "journal.jsonl").rename(path)


def richer(folder: Path) -> None:
    """Improve a train score together with its stored trajectory."""
    from dataclasses import replace

    from heredity.engine.trajectory import decode_many, encode_many

    run = run_of(folder)
    lines, store = lines_of(run), BlobStore(run / "blobs")
    data = of_kind(lines, "submission.completed")[0]["data"]
    first, *others = decode_many(store.get(data["blob"]))
    better = replace(first, total_reward=first.total_reward + 5.0)
    store.path(data["blob"]).unlink()
    data["blob"] = store.put(encode_many([better, *others]))
    data["outcomes"][0]["score"] += 5.0
    write_lines(run, lines)


def tried(kind: Kind, source: Path) -> dict[str, Any]:
    """Apply a kind of tampering to a copy of a folder, and verify it."""
    with tempfile.TemporaryDirectory() as root:
        copy = Path(shutil.copytree(source, Path(root) / "runs" / source.name, symlinks=True))
        try:
            kind.change(copy)
        except (IndexError, KeyError, AssertionError, StopIteration) as error:
            return {"name": kind.name, "derivable": kind.derivable, "applied": False, "found": False, "by": repr(error)}
        if kind.rebuilt:
            # A record of which nothing can be made is published as it is.
            with suppress(Exception):
                rebuild(copy)
        try:
            by = sorted({check.name for check in verify(copy, kind.asked).checks if check.status == "failed"})
        except Exception as error:  # noqa: BLE001 - a crash of the verifier is reported as such
            return {
                "name": kind.name,
                "derivable": kind.derivable,
                "applied": True,
                "found": False,
                "by": f"crash: {error!r}",
            }
    return {"name": kind.name, "derivable": kind.derivable, "applied": True, "found": bool(by), "by": ", ".join(by)}


_WORK: list[tuple[Kind, Path]] = []


def _prepare(folders: Mapping[str, Path], only: str) -> None:
    """List the kinds of tampering, in every process, as changes are closures."""
    fields = (kind for name in FIELDS if name in folders for kind in field_kinds(name, folders[name]))
    _WORK[:] = [(kind, folders[kind.folder]) for kind in (*own_kinds(), *fields) if only in kind.name]


def _tried(number: int) -> dict[str, Any]:
    row = tried(*_WORK[number])
    print(f"{number + 1} of {len(_WORK)}: {row}", file=sys.stderr, flush=True)
    return row


def alarms(source: Path, asked: Asked) -> list[str]:
    """Verify an honest folder and return what fails."""
    return [f"{c.name}: {c.reason}" for c in verify(source, asked).checks if c.status == "failed"]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--folders", type=Path, default=None, help="where honest folders are made, or were (a temporary folder)"
    )
    parser.add_argument("--only", default="", help="kinds whose name contains this")
    parser.add_argument("--replay", action="store_true", help="also replay the honest folders")
    given = parser.parse_args()
    root = given.folders or Path(tempfile.mkdtemp(prefix="heredity-tamper-"))
    folders = corpus(root)
    honest = Asked(candidates=True, methods=True) if given.replay else Asked()
    _prepare(folders, given.only)
    with process_pool(2, _prepare, (folders, given.only)) as pool:
        false = (
            dict(zip(folders, pool.map(alarms, folders.values(), [honest] * len(folders)), strict=True))
            if not given.only
            else {}
        )
        rows = list(pool.map(_tried, range(len(_WORK))))
    rows = [row for row in rows if row["applied"]]
    derivable = [row for row in rows if row["derivable"]]
    result = {
        "kinds": len(rows),
        "derivable": len(derivable),
        "found": sum(row["found"] for row in derivable),
        "honest": len(false),
        "false_alarms": sum(bool(found) for found in false.values()),
        "missed": [row["name"] for row in derivable if not row["found"]],
        "crashed": [row["name"] for row in rows if row["by"].startswith("crash")],
        "alarms": {name: found for name, found in false.items() if found},
        "need_an_anchor": [row["name"] for row in rows if not row["derivable"]],
    }
    if given.json:
        print(json.dumps(result, indent=1))
    else:
        for row in rows:
            print(
                f"{'found' if row['found'] else 'MISSED' if row['derivable'] else 'anchor':7} {row['name']}: {row['by']}"
            )
        print(
            f"{result['found']} of {len(derivable)} derivable kinds found; {result['false_alarms']} false alarms on {len(false)} honest folders"
        )
    if given.folders is None:
        shutil.rmtree(root)
    sys.exit(1 if result["missed"] or result["false_alarms"] or result["crashed"] else 0)


FIELDS = ("policy-one", "agent", "program-map", "harness-epochs", "learning", "resources", "within", "team", "world")
"""Folders of which every field of every kind of event is changed."""

if __name__ == "__main__":
    main()
