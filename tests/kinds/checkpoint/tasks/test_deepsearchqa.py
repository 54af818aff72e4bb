"""DeepSearchQA by adapter: a small file of its form, documents, and a server that answers as SearXNG does."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.kinds.checkpoint.tasks.grading import Says

from heredity._core.errors import ConfigError, HostError, ProviderError
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.kinds.checkpoint.tasks import PostTrainingTask, PostTrainingTaskset, posttraining_task, workspace_files
from heredity.kinds.checkpoint.tasks.kinds import EpisodeRunner
from heredity.library.tasks.posttraining.deepsearchqa import searching
from heredity.library.tasks.posttraining.deepsearchqa.searching import Web
from heredity.sandbox.limits import Limits

ENTROPY = 41
COUNT = 30
COLUMNS = ("problem", "problem_category", "answer", "answer_type")


def town(number: int) -> str:
    return f"Town{chr(97 + number % 26)}{number}"


def write(path: Path, rows: list[dict[str, str]], columns: tuple[str, ...] = COLUMNS) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


def questions() -> list[dict[str, str]]:
    single = [
        {"problem": f"Who is mayor of {town(n)}?", "answer": f"Mayor {n}", "answer_type": "Single Answer"}
        for n in range(COUNT // 2)
    ]
    several = [
        {
            "problem": f"Which rivers meet\nin {town(n)}?",
            "answer": f"River {n}, River {n}b",
            "answer_type": "Set Answer",
        }
        for n in range(COUNT // 2, COUNT)
    ]
    return [{**row, "problem_category": "Other"} for row in (*single, *several)]


def documents() -> list[dict[str, str]]:
    before, after = "It lies by the sea. " * 11, "Much else is known of it. " * 200
    return [
        {"title": town(n), "text": f"{before}Answer: {row['answer']}. {after}"} for n, row in enumerate(questions())
    ]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The variables that name a small file of questions and the documents that answer them."""
    corpus = tmp_path / "documents.jsonl"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in documents()))
    monkeypatch.setenv("DEEPSEARCHQA_DATA", str(write(tmp_path / "DSQA-full.csv", questions())))
    monkeypatch.setenv("DEEPSEARCHQA_CORPUS", str(corpus))
    monkeypatch.delenv("DEEPSEARCHQA_SEARCH", raising=False)
    return tmp_path


class SearXNG:
    """A server on this machine: `says` gives status and body of each answer; None hangs until the end."""

    def __init__(self, says: Callable[[str], tuple[int, bytes] | None]) -> None:
        self.says, self.heard, self._end = says, list[str](), Event()
        outer = self

        class Answers(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                query = parse_qs(parts.query)
                assert (parts.path, query["format"]) == ("/search", ["json"])
                outer.heard.append(query["q"][0])
                said = outer.says(query["q"][0])
                if said is None:
                    outer._end.wait(20)
                    return
                self.send_response(said[0])
                self.send_header("Content-Length", str(len(said[1])))
                if said[0] == 302:
                    self.send_header("Location", outer.url + "/search?q=elsewhere&format=json")
                self.end_headers()
                self.wfile.write(said[1])

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._end.set()
        self._server.shutdown()
        self._server.server_close()


def found(words: str) -> tuple[int, bytes]:
    """Answer as SearXNG does."""
    fitting = [row for row in documents() if row["title"].lower() in words.lower()]
    results = [
        {
            "title": row["title"],
            "url": f"https://towns.example/{row['title']}",
            "content": row["text"][:300],
            "engine": "x",
        }
        for row in fitting
    ]
    return 200, json.dumps({"query": words, "results": results, "unresponsive_engines": []}).encode()


@pytest.fixture
def engine(files: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SearXNG]:
    server = SearXNG(found)
    monkeypatch.delenv("DEEPSEARCHQA_CORPUS")
    monkeypatch.setenv("DEEPSEARCHQA_SEARCH", server.url)
    monkeypatch.setattr(searching, "_PAUSE", 0.01)
    yield server
    server.close()


def the_task() -> PostTrainingTask:
    one = posttraining_task("deepsearchqa")
    assert isinstance(one, PostTrainingTask)
    return one


def searcher(prompt: str) -> str:
    """Search for the town, open it, and say what stands there."""
    asked = re.findall(r"Town\w+", prompt)[0]
    answer = re.findall(r"Answer: (.*?)\. Much", prompt.rpartition("Observation:")[2])
    if answer:
        return f"Thought: There it is.\nAction: answer[{answer[-1]}]"
    return f"Action: open[{asked}]" if f"[{asked}]" in prompt else f"Action: search[about {asked}]"


class Judge:
    """A judge that compares what stands between its fences, and knows which rubric it was given."""

    name = "test/judge"

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.model = Says(self.say)

    def say(self, prompt: str) -> str:
        self.asked.append(prompt)
        _, question, reference, given = re.split(r"\n?The (?:question|reference answer|answer to judge):\n", prompt)
        same = all(item in given for item in reference.strip().split("\n")[1].split(", "))
        assert "?" in question
        return json.dumps({"score": float(same), "reason": "compared"})


async def graded(
    one: PostTrainingTask, say: Callable[[str], str], judge: Any, count: int = COUNT // 3
) -> list[Trajectory]:
    runner = EpisodeRunner(Says(say), judge=judge, settings=one.solving)
    jobs = [Job(one.inner.info, one.solver, task) for task in one.inner.draw("validation", count, ENTROPY)]
    stream: AsyncGenerator[tuple[int, Trajectory]] = runner.run(jobs, Limits(episode_s=600))
    async with aclosing(stream):
        ended = {position: trajectory async for position, trajectory in stream}
    return [ended[i] for i in range(count)]


def test_what_is_missing_is_said_before_anything_is_run(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPSEARCHQA_DATA", str(tmp_path / "none.csv"))
    with pytest.raises(ConfigError, match=r"DEEPSEARCHQA_DATA is .*none\.csv'; expected the file DSQA-full\.csv"):
        the_task()
    monkeypatch.delenv("DEEPSEARCHQA_DATA")
    monkeypatch.setenv("HEREDITY_DATA", str(tmp_path))
    monkeypatch.delenv("HEREDITY_DOWNLOAD", raising=False)
    with pytest.raises(ConfigError, match="or set DEEPSEARCHQA_DATA to the file"):
        the_task()
    (tmp_path / "deepsearchqa").mkdir()
    write(tmp_path / "deepsearchqa" / "DSQA-full.csv", questions())
    assert the_task().graded == COUNT // 3
    monkeypatch.setenv("DEEPSEARCHQA_SEARCH", "http://127.0.0.1:1")
    with pytest.raises(ConfigError, match="both are set of DEEPSEARCHQA_CORPUS"):
        the_task()
    monkeypatch.delenv("DEEPSEARCHQA_CORPUS")
    assert the_task().labels == ("public benchmark", "live search")
    for wrong in ("ftp://host", "127.0.0.1:8080", "http://", "file:///etc/passwd", "http://me:secret@host", "http://["):
        monkeypatch.setenv("DEEPSEARCHQA_SEARCH", wrong)
        with pytest.raises(ConfigError, match="DEEPSEARCHQA_SEARCH is"):
            the_task()
    monkeypatch.delenv("DEEPSEARCHQA_SEARCH")
    with pytest.raises(ConfigError, match="neither is set of DEEPSEARCHQA_CORPUS"):
        the_task()


def test_a_file_of_another_form_is_refused_with_what_it_lacks(files: Path) -> None:
    path = files / "DSQA-full.csv"
    write(path, questions(), ("problem", "answer"))
    with pytest.raises(ConfigError, match="lacks answer_type; expected the columns problem, answer, answer_type"):
        the_task()
    write(path, [*questions(), {**questions()[0], "problem": "New?", "answer_type": "Essay"}])
    with pytest.raises(
        ConfigError, match=r"row 31 of .* has the answer type 'Essay'; expected Single Answer or Set Answer"
    ):
        the_task()
    write(path, questions()[:2])
    with pytest.raises(ConfigError, match="has 2 questions with answers; expected at least 3"):
        the_task()
    path.write_bytes(b"\xff\xfe\x00problem")
    with pytest.raises(ConfigError, match="cannot be read"):
        the_task()


def test_documents_of_another_form_are_refused_with_their_line(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, (text, reason) in enumerate(
        [
            ('{"title": "A", "text": "a"}\n{"title": "B"}\n', "line 2 of"),
            ("{", "cannot be read"),
            ("\n", "no documents"),
        ]
    ):
        path = files / f"{number}.jsonl"
        path.write_text(text)
        monkeypatch.setenv("DEEPSEARCHQA_CORPUS", str(path))
        with pytest.raises(ConfigError, match=reason):
            the_task()


def test_every_question_is_graded_held_out_or_to_train_on_by_entropy(files: Path) -> None:
    blank = [{**questions()[0], "problem": "Nobody knows?", "answer": " "}, questions()[3]]
    write(files / "DSQA-full.csv", [*questions(), *blank])
    one = the_task()
    taskset = PostTrainingTaskset(one)
    rows = [json.loads(line) for line in workspace_files(one, ENTROPY)["data/train.jsonl"].splitlines()]
    views = [t.spec["question"] for split in ("train", "heldout") for t in taskset.draw(split, 10, ENTROPY)]
    assert len(rows) == 10
    assert {*views, *(row["question"] for row in rows)} == {row["problem"] for row in questions()}
    assert views != [t.spec["question"] for split in ("train", "heldout") for t in taskset.draw(split, 10, ENTROPY + 1)]
    answers = {row["problem"]: (row["answer"], row["answer_type"]) for row in questions()}
    assert all((row["answer"], row["answer_type"]) == answers[row["question"]] for row in rows)
    assert all(row["completion"] == f"Action: answer[{row['answer']}]" for row in rows)
    assert (one.structure, one.labels) == (
        {"capability": 5, "interaction": 4, "reward": 4, "horizon": 3},
        ("public benchmark",),
    )


async def test_questions_are_looked_up_in_documents_and_the_judge_decides(files: Path) -> None:
    one, judge, asked = the_task(), Judge(), list[str]()

    def search(prompt: str) -> str:
        asked.append(prompt)
        return searcher(prompt)

    trajectories = await graded(one, search, judge.model)
    assert [(t.total_reward, t.terminated, t.length) for t in trajectories] == [(1.0, True, 3)] * 10
    assert 0 < Counter("lists items" in prompt for prompt in judge.asked)[True] < 10
    assert max(map(len, asked)) < 4500
    row = json.loads(workspace_files(one, ENTROPY)["data/train.jsonl"].splitlines()[0])
    question = one.inner.draw("validation", 1, ENTROPY)[0].spec["question"]
    assert row["prompt"].replace(row["question"], question) in asked


async def test_a_part_of_a_list_is_wrong_and_more_than_the_list_is_not(files: Path) -> None:
    one, judge = the_task(), Judge()
    part = await graded(one, lambda prompt: re.sub(r", River.*\]", "]", searcher(prompt)), judge.model)
    more = await graded(one, lambda prompt: searcher(prompt).replace("answer[", "answer[Elsewhere, "), judge.model)
    assert 0 < sum(t.total_reward for t in part) < 10
    assert sum(t.total_reward for t in more) == 10


async def test_no_answer_in_time_and_an_empty_one_are_wrong_without_a_judge(files: Path) -> None:
    one, judge = the_task(), Judge()
    for say, length in ((lambda _: "search[all]", 6), (lambda _: "open[none]", 6), (lambda _: "answer[]", 1)):
        (trajectory,) = await graded(one, say, judge.model, 1)
        assert (trajectory.status, trajectory.total_reward, trajectory.length) == ("ok", 0.0, length)
    assert judge.asked == []


async def test_a_long_answer_that_was_cut_is_still_an_answer(files: Path) -> None:
    one, judge = the_task(), Judge()
    (trajectory,) = await graded(one, lambda _: f"Action: answer[{'many things; ' * 40}]", judge.model, 1)
    assert (trajectory.terminated, len(judge.asked)) == (True, 1)


async def test_without_a_verdict_an_attempt_is_missing_and_half_right_is_wrong(files: Path) -> None:
    one = the_task()

    def fail(_: str) -> str:
        raise ProviderError("server", "down", transient=True)

    for say in (fail, lambda _: "I cannot say"):
        (trajectory,) = await graded(one, searcher, Says(say), 1)
        assert (trajectory.status, trajectory.failure_source) == ("provider_error", "provider")
    (half,) = await graded(one, searcher, Says(lambda _: '{"score": 0.5, "reason": "partly"}'), 1)
    assert (half.status, half.total_reward) == ("ok", 0.0)
    with pytest.raises(ConfigError, match=r"set gateway\.judge"):
        await graded(one, searcher, None, 1)


async def test_questions_are_looked_up_by_a_search_engine(engine: SearXNG) -> None:
    one, judge = the_task(), Judge()
    trajectories = await graded(one, searcher, judge.model)
    assert [(t.total_reward, t.length) for t in trajectories] == [(1.0, 3)] * 10
    assert len(engine.heard) == 10
    seen: Any = trajectories[0].columns["obs"]
    assert re.match(r"(?s).*Observation: \[Town(\w+)\] https://towns\.example/Town\1 It lies", seen[1])


async def test_what_is_opened_was_found_before_by_title_or_address_and_nothing_is_fetched(engine: SearXNG) -> None:
    one = the_task()
    question = one.inner.draw("validation", 1, ENTROPY)[0].spec["question"]
    asked = re.findall(r"Town\w+", question)[0]
    coming = iter([f"open[{engine.url}/search?q=x]", f"search[{asked}]", f"open[https://towns.example/{asked}]", "x"])
    (trajectory,) = await graded(one, lambda _: next(coming, "x"), Judge().model, 1)
    seen: Any = trajectory.columns["obs"]
    assert "No search has found anything of that title" in seen[1]
    assert seen[3].rpartition("Observation: ")[2].startswith("It lies")
    assert engine.heard == [asked]


async def test_signs_that_steer_the_engine_are_left_out(engine: SearXNG) -> None:
    hits = await Web(engine.url).find("!!g :de <3 what is the ratio 3:4 ? !wp")
    assert (list(hits), engine.heard) == ([], ["g de 3 what is the ratio 3:4 wp"])
    assert await Web(engine.url).find("!! ?") == ()
    assert len(engine.heard) == 1


FAILURES: dict[str, tuple[Callable[[str], tuple[int, bytes] | None], str]] = {
    "errors": (lambda _: (500, b"oops"), "answered 500; expected 200"),
    "forbids": (lambda _: (403, b""), "answered 403; the instance allows no JSON"),
    "redirects": (lambda _: (302, b""), "answered 302; name the address it redirects to"),
    "hangs": (lambda _: None, "timed out"),
    "says no JSON": (lambda _: (200, b"<html>"), "gave no answer that can be read"),
    "says too deep JSON": (lambda _: (200, b"[" * 100_000), "gave no answer that can be read"),
    "says other JSON": (lambda _: (200, b'{"results": 3}'), "expected a JSON object with a list of results"),
    "says too much": (lambda _: (200, b" " * 5_000_000), "more than 4000000 bytes"),
    "is blocked": (
        lambda _: (200, b'{"results": [], "unresponsive_engines": [["x", "CAPTCHA"]]}'),
        "its engines did not answer: .*CAPTCHA",
    ),
}


@pytest.mark.parametrize("failing", FAILURES)
async def test_a_search_that_fails_leaves_the_attempt_missing(
    failing: str, engine: SearXNG, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "_SECONDS", 0.2 if failing == "hangs" else 5.0)
    one = the_task()
    engine.says, reason = FAILURES[failing]
    (trajectory,) = await graded(one, searcher, Judge().model, 1)
    assert (trajectory.status, trajectory.failure_source) == ("host_error", "host")
    assert trajectory.failure is not None
    assert re.search(reason, trajectory.failure.message), trajectory.failure.message
    assert len(engine.heard) == 2


async def test_a_search_that_fails_once_is_asked_again(engine: SearXNG) -> None:
    engine.says = lambda words: found(words) if len(engine.heard) > 1 else (500, b"")
    assert [hit.title for hit in await Web(engine.url).find("Towna0")] == ["Towna0"]


async def test_a_server_that_is_not_there_fails() -> None:
    with pytest.raises(HostError, match=r"the search at http://127\.0\.0\.1:1 failed"):
        await Web("http://127.0.0.1:1").find("x")


async def test_results_without_title_or_text_are_taken_as_they_are(engine: SearXNG) -> None:
    results = [
        {"url": "https://a.example"},
        {"title": "B" * 500, "content": None},
        3,
        {"content": "lost"},
        *[{"title": "C"}] * 9,
    ]
    engine.says = lambda _: (200, json.dumps({"results": results}).encode())
    titles = [hit.title for hit in await Web(engine.url + "/").find("x")]
    assert titles == ["https://a.example", "B" * 150, "C", "C", "C"]
