from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.errors import ConfigError, DamagedRecordError, ProviderError, RecordError
from heredity.models.contract import Delta, Message, Model, Reply, Request, Sampling, ToolCall, Usage, streamed
from heredity.models.replay import Recording, Replayed, open_model
from heredity.models.scripted import Answer, Rule, Scripted, When

ECHO = Scripted(lambda request: f"You said {request.messages[-1].content}", name="echo")


class Counting:
    """Answers with how often it was asked, its usage and cost too."""

    name = "counting"

    def __init__(self) -> None:
        self.asked = 0

    async def reply(self, request: Request) -> Reply:
        self.asked += 1
        call = ToolCall("c", "tool", '{"n": 1')
        return Reply(str(self.asked), (call,), "tool_calls", Usage(5, None, 2, 0.25), "real/one", 1.5, 3, "off", "hm")


async def recorded(path: Path, *texts: str) -> None:
    recording = Recording(ECHO, path)
    for text in texts:
        await recording.reply(Request.of(text))
    await recording.close()


async def test_a_recording_answers_as_the_model_did(tmp_path: Path) -> None:
    path, request = tmp_path / "calls.jsonl", Request.of("count", sampling=Sampling(temperature=1.0))
    recording = Recording(Counting(), path)
    given = [await recording.reply(request) for _ in range(3)]
    assert recording.name == "counting"
    model = open_model(str(path))
    assert [await model.reply(request) for _ in range(3)] == given
    assert model.name == f"replay/{path}"


async def test_more_answers_than_were_recorded_are_an_error_unless_it_wraps(tmp_path: Path) -> None:
    path, request = tmp_path / "calls.jsonl", Request.of("count")
    recording = Recording(Counting(), path)
    for _ in range(2):
        await recording.reply(request)
    model = Replayed(path)
    assert [(await model.reply(request)).text for _ in range(2)] == ["1", "2"]
    with pytest.raises(ProviderError, match="has 2 answers to this request") as caught:
        await model.reply(request)
    assert (caught.value.kind, caught.value.transient) == ("unscripted", False)
    wrapping = open_model(str(path), {"wrap": True})
    assert [(await wrapping.reply(request)).text for _ in range(5)] == ["1", "2", "1", "2", "1"]


async def test_errors_are_recorded_and_raised_again(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    recording = Recording(Scripted([Rule(Answer(error="server", failures=1)), Rule("fine")]), path)
    with pytest.raises(ProviderError):
        await recording.reply(Request.of("go"))
    await recording.reply(Request.of("go"))
    model = Replayed(path)
    with pytest.raises(ProviderError, match="on purpose") as caught:
        await model.reply(Request.of("go"))
    assert (caught.value.kind, caught.value.transient, caught.value.retry_after_s) == ("server", True, None)
    assert (await model.reply(Request.of("go"))).text == "fine"


async def test_streams_are_recorded_whole_and_replayed_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    given = [delta async for delta in Recording(ECHO, path).stream(Request.of("two words"))]
    again = [delta async for delta in streamed(Replayed(path), Request.of("two words"))]
    assert again == given
    assert len(given) == 5


async def test_a_stream_that_breaks_is_recorded_as_an_error(tmp_path: Path) -> None:
    class Breaking:
        name = "breaking"

        async def reply(self, request: Request) -> Reply:
            raise NotImplementedError

        async def stream(self, request: Request) -> AsyncIterator[Delta]:
            yield Delta("Half a")
            raise ProviderError("connection", "lost", transient=True, retry_after_s=2.0)

    path = tmp_path / "calls.jsonl"
    with pytest.raises(ProviderError, match="lost"):
        _ = [delta async for delta in Recording(Breaking(), path).stream(Request.of("go"))]
    with pytest.raises(ProviderError, match="lost") as caught:
        await Replayed(path).reply(Request.of("go"))
    assert caught.value.retry_after_s == 2.0


async def test_an_unknown_request_is_shown_beside_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    await recorded(path, "What is the capital of Peru?", "Sing!")
    with pytest.raises(ProviderError) as caught:
        await Replayed(path).reply(Request.of("What is the capital of Chile?"))
    assert caught.value.kind == "unscripted"
    assert "-What is the capital of Peru?\n+What is the capital of Chile?" in str(caught.value)
    assert "Sing" not in str(caught.value)
    with pytest.raises(ProviderError) as caught:
        await open_model(str(path), {"strict": False}).reply(Request.of("What is the capital of Chile?"))
    assert "Peru" not in str(caught.value)


async def test_sampling_and_tool_calls_are_part_of_what_is_compared(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    await recorded(path, "go")
    with pytest.raises(ProviderError, match=r'\+sampling: \{"seed": 3\}'):
        await Replayed(path).reply(Request.of("go", sampling=Sampling(seed=3)))
    called = Message("assistant", tool_calls=(ToolCall("c", "look", "{}"),))
    with pytest.raises(ProviderError, match=r'\+calls: \[\["c", "look"'):
        await Replayed(path).reply(Request((Message("user", "go"), called)))


async def test_a_torn_last_line_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    await recorded(path, "one", "two")
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])
    assert (await Replayed(path).reply(Request.of("one"))).text == "You said one"
    with pytest.raises(ProviderError):
        await Replayed(path).reply(Request.of("two"))
    await recorded(path, "two")
    assert path.read_bytes() == whole


async def test_what_another_writer_left_unfinished_is_cut_before_the_next_line(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    recording = Recording(ECHO, path)
    await recording.reply(Request.of("one"))
    with path.open("ab") as other:
        other.write(b'{"digest":"12')
    await recording.reply(Request.of("two"))
    assert (await Replayed(path).reply(Request.of("two"))).text == "You said two"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("said two", "sald two", "line 2 does not match"),
        ('"crc"', '"src"', "line 1 is not a line"),
        ('{"crc"', '{crc"', "line 1 is not a line"),
    ],
)
async def test_a_damaged_line_is_reported_with_its_number(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "calls.jsonl"
    await recorded(path, "one", "two", "three")
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(DamagedRecordError, match=message):
        Replayed(path)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_any_text_survives(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("texts") / "calls.jsonl"
    asyncio.run(recorded(path, text))
    assert asyncio.run(Replayed(path).reply(Request.of(text))).text == f"You said {text}"


def test_several_threads_write_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"

    def write(writer: int) -> None:
        asyncio.run(recorded(path, *(f"{writer}-{i} {'x' * 5000}" for i in range(30))))

    threads = [threading.Thread(target=write, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = path.read_text().splitlines()
    assert len({json.loads(line)["digest"] for line in lines}) == 120
    Replayed(path)


WRITER = """
import asyncio, sys
from pathlib import Path
from heredity.models.contract import Request
from heredity.models.replay import Recording
from heredity.models.scripted import Scripted
async def main():
    recording, i = Recording(Scripted(lambda r: "x" * 20000), Path(sys.argv[1])), 0
    while True:
        await recording.reply(Request.of(str(i)))
        print(i, flush=True)
        i += 1
asyncio.run(main())
"""


def test_a_kill_loses_no_answer_that_was_given(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    for _ in range(3):
        path.unlink(missing_ok=True)
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
        assert writer.stdout
        for _ in range(20):
            last = int(writer.stdout.readline())
        os.kill(writer.pid, signal.SIGKILL)
        last = max([last, *map(int, writer.stdout.read().split())])
        writer.wait()
        asyncio.run(recorded(path, "after"))
        model = Replayed(path)
        assert asyncio.run(model.reply(Request.of(str(last)))).text == "x" * 20000
        assert asyncio.run(model.reply(Request.of("after"))).text == "You said after"


async def test_files_that_are_not_there_are_explained(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        open_model(str(tmp_path / "none.jsonl"))
    with pytest.raises(RecordError, match="cannot be opened"):
        Recording(ECHO, tmp_path / "no" / "folder.jsonl")
    recording = Recording(ECHO, tmp_path / "calls.jsonl")
    await recording.close()
    with pytest.raises(RecordError, match="is closed"):
        await recording.reply(Request.of("go"))


def test_an_unknown_setting_suggests_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'wrpa'; did you mean wrap"):
        open_model(str(tmp_path / "calls.jsonl"), {"wrpa": True})


async def test_a_conversation_with_a_scripted_model_replays(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"

    async def converse(model: Model) -> None:
        messages = [Message("user", "go")]
        for expected in ("once", "more", "more"):
            reply = await model.reply(Request(tuple(messages)))
            assert reply.text == expected
            messages += [reply.message, Message("user", "go")]

    await converse(Recording(Scripted([Rule("once", When(times=1)), Rule("more")]), path))
    await converse(Replayed(path))
