"""A published folder is verified by who does not trust its owner; whatever the owner changed is found and named."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from heredity._core.errors import ConfigError
from heredity._core.ids import canonical_json, digest_json
from heredity.cli.main import app
from heredity.experiments.results import rebuild_run
from heredity.experiments.verification.verify import Asked, verify
from heredity.results.card import Card

from . import sample

pytestmark = pytest.mark.skipif(not sample.isolated(), reason="policies cannot be confined here")

REPLAY = Asked(candidates=True)


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("root") / "runs" / "one"
    chosen = sample.config(run={"seeds": 2}, suite={"baselines": False}, budget={"episodes": 3})
    assert not sample.run(folder, chosen).failures
    return folder


@pytest.fixture
def run(suite: Path, tmp_path: Path) -> Path:
    """A copy of one run, elsewhere and alone."""
    return Path(shutil.copytree(next(iter(sorted((suite / "runs").iterdir()))), tmp_path / "elsewhere" / "copied"))


def failed(card: Card) -> dict[str, str]:
    return {check.name: check.reason for check in card.checks if check.status == "failed"}


def not_checked(card: Card) -> dict[str, str]:
    return {check.name: check.reason for check in card.checks if check.status == "not checked"}


def events(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "journal.jsonl").read_bytes().splitlines()]


def chained(run: Path, lines: list[dict[str, Any]]) -> None:
    """Write a journal as an owner would who knows how it is made: every number and every checksum is right."""
    head, written = bytes(32), b""
    for seq, line in enumerate(lines):
        line = {**{key: value for key, value in line.items() if key != "chain"}, "seq": seq}
        payload = canonical_json(line)
        head = hashlib.sha256(head + payload).digest()
        written += payload[:-1] + b',"chain":"' + head.hex().encode() + b'"}\n'
    (run / "journal.jsonl").write_bytes(written)


def forge(run: Path, kind: str, change: Callable[[dict[str, Any]], None], number: int = 0) -> None:
    """Change the data of an event, and make everything that is derived from the journal anew."""
    lines = events(run)
    change([line["data"] for line in lines if line["kind"] == kind][number])
    chained(run, lines)
    rebuild_run(run)


def better(data: dict[str, Any]) -> None:
    data["scores"][0] += 1.0


def test_a_published_suite_holds_wherever_it_lies(suite: Path, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(suite, tmp_path / "elsewhere" / "copied"))
    card = verify(copied, Asked(candidates=True, most=2))
    assert failed(card) == {}
    assert not_checked(card).keys() == {"anchor", "secrecy"}
    assert len(card.runs) == 2
    assert len({run.head for run in card.runs}) == 2
    assert len({run.commitment for run in card.runs}) == 1
    assert str(tmp_path) not in json.dumps(card.model_dump(mode="json"))


def test_every_judged_rollout_is_played_again(run: Path) -> None:
    card = verify(run, REPLAY)
    assert failed(card) == {}
    made = [line["data"].get("scores") or line["data"].get("outcomes") or () for line in events(run)]
    count = sum(map(len, made))
    assert next(check.reason for check in card.checks if check.name == "replay") == (
        f"{count} of {count} replayed and equal"
    )
    assert sum(row.equal for row in card.replays) == count
    assert {row.split for row in card.replays} == {"train", "validation", "heldout"}


def _byte_of_a_blob(run: Path) -> None:
    blob = sorted((run / "blobs").glob("*/*"))[0]
    data = bytearray(blob.read_bytes())
    data[len(data) // 2] ^= 1
    blob.write_bytes(data)


def _score(run: Path) -> None:
    journal = run / "journal.jsonl"
    line = next(line for line in journal.read_bytes().splitlines(keepends=True) if b"submission.completed" in line)
    journal.write_bytes(journal.read_bytes().replace(line, line.replace(b'"score":', b'"score":1')))


def _score_of_a_submission(run: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        data["outcomes"][0]["score"] += 1.0

    forge(run, "submission.completed", change)


def _figure(run: Path) -> None:
    metrics = json.loads((run / "metrics.json").read_bytes())
    metrics["heldout"]["mean"] += 1.0
    (run / "metrics.json").write_text(json.dumps(metrics))


def _case(run: Path, *, opened_anew: bool = False) -> None:
    opened = json.loads((run / "opened.json").read_bytes())
    opened["cases"]["gymnasium/CartPole-v1"]["heldout"][0]["spec"]["seed"] = 1
    if opened_anew:
        opened["digest"] = digest_json(opened["cases"])
        salted = bytes.fromhex(opened["salt"]) + canonical_json(opened["cases"])
        opened["commitment"] = hashlib.sha256(salted).hexdigest()
    (run / "opened.json").write_text(json.dumps(opened))


def _line_removed(run: Path) -> None:
    lines = (run / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (run / "journal.jsonl").write_bytes(b"".join(lines[:2] + lines[3:]))


def _line_removed_and_chained_anew(run: Path) -> None:
    lines = events(run)
    beat = next(line for line in lines if line["kind"] == "heartbeat")
    chained(run, [line for line in lines if line is not beat])


def _cut(run: Path) -> None:
    lines = (run / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (run / "journal.jsonl").write_bytes(b"".join(lines[:-2]))


def _cut_and_rebuilt(run: Path) -> None:
    _cut(run)
    rebuild_run(run)


def _torn(run: Path) -> None:
    (run / "journal.jsonl").write_bytes((run / "journal.jsonl").read_bytes()[:-5])


def _configuration(run: Path) -> None:
    text = (run / "run.toml").read_text()
    (run / "run.toml").write_text(text.replace("heldout = 3", "heldout = 4"))


def _claim(run: Path) -> None:
    card = json.loads((run / "card.json").read_bytes())
    card["runs"][0]["figures"][0]["value"] += 1.0
    (run / "card.json").write_text(json.dumps(card))


def _selected_by_hand(run: Path) -> None:
    lines = events(run)
    chosen = next(line["data"]["candidate"] for line in lines if line["kind"] == "judging.selected")
    other = next(line["data"] for line in lines if line["kind"] == "candidate" and line["data"]["digest"] != chosen)
    forge(run, "judging.selected", lambda data: data.update(candidate=other["digest"], submit_id=1))


def _other_blob(run: Path) -> None:
    lines = [line["data"] for line in events(run) if line["kind"] == "submission.completed"]
    forge(run, "submission.completed", lambda data: data.update(blob=lines[1]["blob"]))


def _judged_before_the_session_was_closed(run: Path) -> None:
    lines = events(run)
    opened = next(line for line in lines if line["kind"] == "cases.judged")
    lines.remove(opened)
    chained(run, [lines[0], opened, *lines[1:]])
    rebuild_run(run)


@pytest.mark.parametrize(
    ("change", "check", "reason"),
    [
        (_byte_of_a_blob, "blobs", "does not match its digest"),
        (_score, "journal", r"line \d+: its checksum does not match"),
        (_score_of_a_submission, "scores", r"line \d+, scores\[0\] is .* was computed"),
        (_other_blob, "scores", "trajectories are of another candidate"),
        (_selected_by_hand, "selection", "the protocol's rule selects"),
        (_figure, "figures", r"heldout.mean is .* was computed"),
        (_case, "commitment", "do not match the commitment"),
        (lambda run: _case(run, opened_anew=True), "commitment", "the journal begins with"),
        (_line_removed, "journal", r"line 3: .*a line before it is missing"),
        (_line_removed_and_chained_anew, "card", r"runs\[0\]\.events is"),
        (_cut, "ended", "the run is unfinished, or its journal was cut"),
        (_cut, "card", r"runs\[0\]\.head is"),
        (_cut_and_rebuilt, "ended", "not run.finished"),
        (_torn, "journal", "ends in an incomplete line"),
        (_configuration, "configuration", "the run started with"),
        (_claim, "card", r"runs\[0\]\.figures\[0\]\.value is"),
        (_judged_before_the_session_was_closed, "events", "cases.judged: before the session was closed"),
    ],
)
def test_what_was_changed_is_found_and_named(
    run: Path, change: Callable[[Path], None], check: str, reason: str
) -> None:
    change(run)
    with_reason = failed(verify(run))
    assert check in with_reason
    assert re.search(reason, with_reason[check])


@pytest.mark.parametrize("kind", ["judging.scored", "reference.scored"])
def test_a_hidden_score_that_was_forged_with_all_that_follows_from_it_is_found_by_playing_again(
    run: Path, kind: str
) -> None:
    forge(run, kind, better)
    assert failed(verify(run)) == {}, "records alone agree with each other"
    assert "and the journal says" in failed(verify(run, REPLAY))["replay"]


def _link_for_a_blob(run: Path) -> None:
    blob = sorted((run / "blobs").glob("*/*"))[0]
    blob.unlink()
    blob.symlink_to("/dev/zero")


def _link_for_blobs(run: Path) -> None:
    (run / "blobs").rename(run.parent / "blobs")
    (run / "blobs").symlink_to(run.parent / "blobs")


def _link_for_the_journal(run: Path) -> None:
    (run / "journal.jsonl").rename(run.parent / "journal")
    (run / "journal.jsonl").symlink_to(run.parent / "journal")


def _pipe_for_metrics(run: Path) -> None:
    (run / "metrics.json").unlink()
    os.mkfifo(run / "metrics.json")


def _huge_metrics(run: Path) -> None:
    os.truncate(run / "metrics.json", 1 << 40)


def _folder_for_a_card(run: Path) -> None:
    (run / "card.json").unlink()
    (run / "card.json").mkdir()


@pytest.mark.parametrize(
    "change",
    [_link_for_a_blob, _link_for_blobs, _link_for_the_journal, _pipe_for_metrics, _huge_metrics, _folder_for_a_card],
)
def test_what_is_no_plain_file_is_named_and_not_opened(run: Path, change: Callable[[Path], None]) -> None:
    change(run)
    card = verify(run, REPLAY)
    assert failed(card).keys() == {"files"}
    assert {check.status for check in card.checks if check.name != "files"} <= {"not checked"}


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "{", "[" * 100_000, '{"a": NaN}', '{"schema_version": []}', "\ud800"]
)
@pytest.mark.parametrize(
    ("name", "check"), [("metrics.json", "figures"), ("opened.json", "commitment"), ("card.json", "card")]
)
def test_malformed_json_fails_its_check_and_nothing_else(run: Path, name: str, check: str, text: str) -> None:
    (run / name).write_bytes(text.encode("utf-8", "surrogatepass"))
    assert failed(verify(run)).keys() == {check}


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("run.started", lambda data: data.pop("commitment")),
        ("submission.completed", lambda data: data.update(outcomes=[{"score": "5"}])),
        ("judging.scored", lambda data: data.update(scores={"0": 1})),
        ("candidate", lambda data: data.update(blob=7)),
        ("heartbeat", lambda data: data.clear()),
    ],
)
def test_events_that_are_not_what_they_say_are_named_and_nothing_is_computed_from_them(
    run: Path, kind: str, change: Callable[[dict[str, Any]], None]
) -> None:
    lines = events(run)
    change(next(line["data"] for line in lines if line["kind"] == kind))
    chained(run, lines)
    card = verify(run, REPLAY)
    assert failed(card).keys() == {"events"}
    assert kind in failed(card)["events"]
    assert "figures" in not_checked(card)


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("submission.completed", lambda data: data.update(outcomes=data["outcomes"] * 2)),
        ("candidate", lambda data: data.update(blob="../../../../etc/passwd")),
        ("candidate", lambda data: data.update(blob="/dev/zero")),
        ("submission.completed", lambda data: data.update(blob="/dev/zero")),
        ("candidate", lambda data: data.update(blob="0" * 64)),
        ("judging.scored", lambda data: data.update(scores=[])),
        ("judging.scored", lambda data: data.update(view="another")),
        ("reference.scored", lambda data: data.update(candidate_blob="\0")),
        ("submission.admitted", lambda data: data.update(charge=1 << 80)),
    ],
)
def test_events_of_the_right_form_and_no_sense_are_failures_and_no_crash(
    run: Path, kind: str, change: Callable[[dict[str, Any]], None]
) -> None:
    lines = events(run)
    change(next(line["data"] for line in lines if line["kind"] == kind))
    chained(run, lines)
    assert failed(verify(run, Asked(candidates=True, most=1)))


def test_a_run_that_was_left_out_of_a_suite_is_missed(suite: Path, tmp_path: Path) -> None:
    from heredity.experiments.results import rebuild_suite

    copied = Path(shutil.copytree(suite, tmp_path / "copied"))
    shutil.rmtree(copied / "runs" / "CartPole-v1--best-of-n--s1")
    rebuild_suite(copied)
    assert failed(verify(copied)) == {"runs": "CartPole-v1--best-of-n--s1 is missing"}


def test_a_figure_of_a_suite_that_was_changed_is_named(suite: Path, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(suite, tmp_path / "copied"))
    metrics = json.loads((copied / "metrics.json").read_bytes())
    metrics["leaderboard"][0]["rank_score"] = 0.123
    (copied / "metrics.json").write_text(json.dumps(metrics))
    assert failed(verify(copied))["figures"].startswith("leaderboard[0].rank_score is 0.123, and")


def test_a_run_of_a_suite_behind_a_link_is_not_followed(suite: Path, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(suite, tmp_path / "copied"))
    run = copied / "runs" / "CartPole-v1--best-of-n--s1"
    run.rename(tmp_path / "moved")
    run.symlink_to(tmp_path / "moved")
    assert "is not a plain folder" in failed(verify(copied))["files"]


def test_the_command_says_what_it_found_by_its_exit_code_a_table_and_a_card(run: Path, tmp_path: Path) -> None:
    def command(*arguments: str | Path) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["verify", *map(str, arguments)])
        return done.exit_code, done.stdout

    code, out = command(run, "--json", "--card", tmp_path / "card.json")
    card = Card.model_validate_json(out)
    assert (code, failed(card)) == (0, {})
    assert Card.model_validate_json((tmp_path / "card.json").read_bytes()) == card
    _figure(run)
    code, out = command(run)
    assert code == 1
    assert "heldout.mean" in out
    assert "1 failed" in out


def test_what_holds_no_run_is_a_wrong_argument(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="neither a run nor a suite"):
        verify(tmp_path)
