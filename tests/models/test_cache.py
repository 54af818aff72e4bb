"""The cache: what it answers, why, and what becomes of its file."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.errors import ConfigError, DamagedRecordError, ProviderError, RecordError
from heredity.models import Image, Message, Reply, Request, Sampling, ToolCall, ToolSpec, Usage
from heredity.models.cache import Cached, bypassing, cache_key
from heredity.models.contract import NOTHING_USED
from heredity.models.reply_store import ReplyStore

from .fakes import Fake, broken, said

FIXED = Sampling(temperature=0)
ASK = Request.of("hi", sampling=FIXED)


@pytest.fixture
def store(tmp_path: Path) -> ReplyStore:
    return ReplyStore(tmp_path / "folder" / "replies.sqlite")


async def test_a_repeated_request_is_answered_from_the_cache_for_nothing(store: ReplyStore) -> None:
    fake = Fake([said("first"), said("second")])
    model = Cached(fake, store)
    first, again = await model.reply(ASK), await model.reply(replace(ASK, purpose="judge"))
    assert (first.text, first.cache, first.attempts) == ("first", "miss: first time", 1)
    assert (again.text, again.cache, again.attempts, again.usage) == ("first", "hit", 0, NOTHING_USED)
    assert (again.model, len(fake.asked)) == (first.model, 1)


async def test_another_process_finds_what_the_first_one_stored(store: ReplyStore) -> None:
    await Cached(Fake([said("first")]), store).reply(ASK)
    store.close()
    assert (await Cached(Fake([said("second")]), ReplyStore(store.path)).reply(ASK)).text == "first"


async def test_a_stream_is_stored_and_answered_too(store: ReplyStore) -> None:
    model = Cached(Fake([said("first"), said("second")]), store)
    first = [delta async for delta in model.stream(ASK)]
    again = [delta async for delta in model.stream(ASK)]
    assert [d.text for d in first] == [*"first", ""]
    assert [d.text for d in again] == ["first", ""]
    assert again[-1].reply is not None
    assert again[-1].reply.cache == "hit"


@pytest.mark.parametrize(
    ("sampling", "cached"),
    [
        (Sampling(), False),
        (Sampling(temperature=0.7), False),
        (Sampling(temperature=0.7, seed=1), True),
        (Sampling(seed=1), True),
        (Sampling(temperature=0), True),
    ],
)
async def test_only_answers_that_are_meant_to_repeat_are_cached(
    store: ReplyStore, sampling: Sampling, cached: bool
) -> None:
    fake = Fake()
    model = Cached(fake, store)
    replies = [await model.reply(Request.of("hi", sampling=sampling)) for _ in range(2)]
    assert len(fake.asked) == (1 if cached else 2)
    assert replies[1].cache == ("hit" if cached else "miss: sampled (temperature is not 0, and no seed)")


async def test_sampled_answers_are_cached_if_wanted(store: ReplyStore) -> None:
    fake = Fake()
    model = Cached(fake, store, sampled=True)
    assert [(await model.reply(Request.of("hi"))).cache for _ in range(2)] == ["miss: first time", "hit"]


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (said("no", finish="refusal"), "refusal"),
        (said("half", finish="length"), "length"),
        (said(" "), "empty"),
        (said("sampled", ignored=("temperature",)), "sampled (the model does not take temperature)"),
    ],
)
async def test_only_good_answers_are_stored(store: ReplyStore, reply: Reply, why: str) -> None:
    model = Cached(Fake([reply]), store)
    assert [(await model.reply(ASK)).cache for _ in range(2)] == [f"miss: first time; not stored: {why}"] * 2
    assert len(store) == 0


async def test_failures_are_not_stored(store: ReplyStore) -> None:
    model = Cached(Fake([broken(), said()]), store)
    with pytest.raises(ProviderError):
        await model.reply(ASK)
    assert (await model.reply(ASK)).cache == "miss: first time"


async def test_tool_calls_without_text_are_a_good_answer(store: ReplyStore) -> None:
    calls = (ToolCall("t1", "look", "{}"),)
    model = Cached(Fake([said("", tool_calls=calls, finish="tool_calls")]), store)
    await model.reply(ASK)
    assert (await model.reply(ASK)).tool_calls == calls


async def test_a_bypass_neither_reads_nor_writes(store: ReplyStore) -> None:
    model = Cached(Fake([said("first"), said("second"), said("third")]), store)
    with bypassing():
        assert (await model.reply(ASK)).cache == "bypassed"
        assert model.explain(ASK) == "bypassed"
    assert (await model.reply(ASK)).text == "second"
    with bypassing():
        assert (await model.reply(ASK)).text == "third"
    assert (await model.reply(ASK)).text == "second"


async def test_the_cache_explains_itself_beforehand(store: ReplyStore) -> None:
    model = Cached(Fake(), store)
    assert model.explain(ASK) == "miss: first time"
    assert model.explain(Request.of("hi")).startswith("miss: sampled")
    await model.reply(ASK)
    assert model.explain(ASK).startswith("hit: answered by fake/m, stored 20")
    other = Request.of("hi", sampling=Sampling(temperature=0, max_tokens=5))
    assert model.explain(other) == "miss: same messages before, but other tools or sampling"
    assert (await model.reply(other)).cache == "miss: same messages before, but other tools or sampling"


async def test_models_and_salts_do_not_share_answers(store: ReplyStore) -> None:
    await Cached(Fake(), store).reply(ASK)
    for model in (Cached(Fake(name="b/y"), store), Cached(Fake(), store, salt="elsewhere")):
        assert (await model.reply(ASK)).cache == "miss: first time"


# --- at the same time


@pytest.mark.parametrize("streaming", [False, True])
async def test_equal_requests_at_the_same_time_share_one_call(store: ReplyStore, streaming: bool) -> None:
    fake = Fake(takes_s=0.02)
    model = Cached(fake, store)

    async def ask() -> Reply:
        if not streaming:
            return await model.reply(ASK)
        return [delta async for delta in model.stream(ASK)][-1].reply  # type: ignore[return-value]

    replies = await asyncio.gather(*(ask() for _ in range(8)))
    assert len(fake.asked) == 1
    assert sorted({r.cache for r in replies}) == ["hit: shared an equal call under way", "miss: first time"]
    assert sum((r.usage for r in replies), NOTHING_USED) == Usage(10, 5, 0, 0.5)


async def test_sampled_requests_at_the_same_time_are_each_asked(store: ReplyStore) -> None:
    fake = Fake(takes_s=0.01)
    model = Cached(fake, store)
    await asyncio.gather(*(model.reply(Request.of("hi")) for _ in range(4)))
    assert len(fake.asked) == 4


async def test_a_shared_call_that_fails_fails_for_all(store: ReplyStore) -> None:
    fake = Fake([broken()], takes_s=0.02)
    model = Cached(fake, store)
    done = await asyncio.gather(*(model.reply(ASK) for _ in range(4)), return_exceptions=True)
    assert all(isinstance(error, ProviderError) for error in done)
    assert len(fake.asked) == 1
    fake.outcomes = [said()]
    assert (await model.reply(ASK)).text == "yes"


async def test_when_the_asking_caller_gives_up_another_one_asks(store: ReplyStore) -> None:
    fake = Fake(takes_s=0.03)
    model = Cached(fake, store)
    first = asyncio.create_task(model.reply(ASK))
    await fake.begun.wait()
    others = [asyncio.create_task(model.reply(ASK)) for _ in range(3)]
    await asyncio.sleep(0.005)
    first.cancel()
    replies = await asyncio.gather(*others)
    assert {r.text for r in replies} == {"yes"}
    assert len(fake.asked) == 2


async def test_a_waiting_caller_that_gives_up_disturbs_nobody(store: ReplyStore) -> None:
    fake = Fake(takes_s=0.03)
    model = Cached(fake, store)
    first = asyncio.create_task(model.reply(ASK))
    await fake.begun.wait()
    second = asyncio.create_task(model.reply(ASK))
    await asyncio.sleep(0.005)
    second.cancel()
    assert (await first).text == "yes"


# --- the file


CHILD = """
import asyncio, sys
from pathlib import Path
from heredity.models import Request, Sampling
from heredity.models.cache import Cached
from heredity.models.reply_store import ReplyStore
from tests.models.fakes import Fake, said

async def main():
    model = Cached(Fake([said(sys.argv[2])]), ReplyStore(Path(sys.argv[1])))
    for i in range(40):
        await model.reply(Request.of(str(i), sampling=Sampling(temperature=0)))

asyncio.run(main())
"""


def test_several_processes_write_at_once_and_the_first_answer_stays(store: ReplyStore) -> None:
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root / "src"), str(root)])
    command = [sys.executable, "-c", CHILD, str(store.path)]
    children = [
        subprocess.Popen([*command, f"child {i}"], env={**os.environ, "PYTHONPATH": path}, stderr=subprocess.PIPE)
        for i in range(2)
    ]
    for child in children:
        assert child.wait(timeout=60) == 0, child.stderr and child.stderr.read().decode()
        assert child.stderr is not None
        child.stderr.close()
    assert len(store) == 40
    model = Cached(Fake([said("mine")]), store)
    replies = asyncio.run(ask_all(model, [Request.of(str(i), sampling=FIXED) for i in range(40)]))
    assert {reply.text for reply in replies} <= {"child 0", "child 1"}


async def ask_all(model: Cached, requests: list[Request]) -> list[Reply]:
    return [await model.reply(request) for request in requests]


@pytest.mark.parametrize("damage", [b"not a database at all " * 50, b"SQLite format 3\x00" + b"\xff" * 4096])
async def test_a_damaged_file_is_reported_and_left_alone(store: ReplyStore, damage: bytes) -> None:
    store.path.parent.mkdir()
    store.path.write_bytes(damage)
    with pytest.raises(DamagedRecordError, match=r"replies\.sqlite is damaged"):
        await Cached(Fake(), store).reply(ASK)
    assert store.path.read_bytes() == damage


async def test_pages_overwritten_in_the_middle_are_never_served(store: ReplyStore) -> None:
    model = Cached(Fake(), store)
    requests = [Request.of(str(i), sampling=FIXED) for i in range(100)]
    for request in requests:
        await model.reply(request)
    store.close()
    data = bytearray(store.path.read_bytes())
    data[8192:20480] = b"\x5a" * 12288
    store.path.write_bytes(bytes(data))
    with pytest.raises(DamagedRecordError):
        await ask_all(model, requests)


async def test_an_entry_that_was_changed_is_reported(store: ReplyStore) -> None:
    await Cached(Fake(), store).reply(ASK)
    store.close()
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE replies SET reply = replace(CAST(reply AS TEXT), 'yes', 'no')")
    connection.close()
    with pytest.raises(DamagedRecordError, match="checksum"):
        await Cached(Fake(), store).reply(ASK)


async def test_a_file_of_another_program_is_refused(store: ReplyStore) -> None:
    store.path.parent.mkdir()
    with sqlite3.connect(store.path) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with pytest.raises(ConfigError, match="another program"):
        await Cached(Fake(), store).reply(ASK)


async def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="cannot be opened"):
        await Cached(Fake(), ReplyStore(tmp_path / "file" / "replies.sqlite")).reply(ASK)


async def test_an_answer_that_cannot_be_stored_is_given_all_the_same(
    store: ReplyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise RecordError("the disk is full")

    monkeypatch.setattr(store, "put", full)
    assert (await Cached(Fake(), store).reply(ASK)).cache == "miss: first time; not stored: the disk is full"


# --- the key


TEXT = st.text(max_size=8)
CALLS = st.builds(ToolCall, TEXT, TEXT, TEXT)
MESSAGES = st.one_of(
    st.builds(Message, st.sampled_from(["system", "user"]), TEXT),
    st.builds(
        lambda text, data: Message("user", text, images=(Image("image/png", data),)), TEXT, st.binary(max_size=8)
    ),
    st.builds(
        lambda text, calls: Message("assistant", text, tool_calls=tuple(calls)), TEXT, st.lists(CALLS, max_size=2)
    ),
    st.builds(lambda text, call: Message("tool", text, tool_call_id=call), TEXT, st.text(min_size=1, max_size=4)),
)
SAMPLINGS = st.builds(
    Sampling,
    temperature=st.none() | st.sampled_from([0.0, 0.5, 1.0]),
    max_tokens=st.none() | st.integers(1, 3),
    seed=st.none() | st.integers(0, 2),
    stop=st.lists(TEXT, max_size=2).map(tuple),
)
TOOLS = st.lists(st.builds(ToolSpec, TEXT, TEXT, st.dictionaries(TEXT, st.integers(0, 3), max_size=2)), max_size=2)
REQUESTS = st.builds(
    Request,
    st.lists(MESSAGES, min_size=1, max_size=3).map(tuple),
    TOOLS.map(tuple),
    SAMPLINGS,
    st.sampled_from(["auto", "none"]),
    st.sampled_from(["execution", "judge"]),
)


@given(REQUESTS, REQUESTS, st.sampled_from(["a/x", "b/y"]), st.sampled_from(["a/x", "b/y"]))
def test_keys_are_equal_exactly_where_model_and_request_are(a: Request, b: Request, m: str, n: str) -> None:
    def identity(request: Request, model: str) -> Any:
        return model, request.messages, request.tools, request.sampling, request.tool_choice

    assert (cache_key(m, a) == cache_key(n, b)) == (identity(a, m) == identity(b, n))


@given(REQUESTS)
def test_a_key_ignores_the_purpose_and_the_order_of_a_schema_and_nothing_else(request: Request) -> None:
    turned = tuple(replace(t, parameters=dict(reversed(list(t.parameters.items())))) for t in request.tools)
    assert cache_key("a/x", request) == cache_key("a/x", replace(request, purpose="other", tools=turned))
    assert cache_key("a/x", request) != cache_key("a/x", request, salt="s")
    longer = replace(request, messages=(*request.messages, Message("user", "more")))
    assert cache_key("a/x", request) != cache_key("a/x", longer)


@pytest.mark.parametrize("streaming", [False, True])
async def test_equal_requests_at_the_same_time_share_no_answer_of_a_model_that_does_not_take_the_seed(
    store: ReplyStore, streaming: bool
) -> None:
    fake = Fake([said(str(n), ignored=("seed",)) for n in range(9)], takes_s=0.01)
    model = Cached(fake, store)
    request = Request.of("hi", sampling=Sampling(seed=1))

    async def ask() -> Reply:
        if not streaming:
            return await model.reply(request)
        reply = [delta.reply async for delta in model.stream(request)][-1]
        assert reply is not None
        return reply

    replies = await asyncio.gather(*(ask() for _ in range(4)))
    assert len({reply.text for reply in replies}) == len(fake.asked) == 4
    assert not [reply for reply in replies if reply.cache.startswith("hit")]


async def test_a_model_that_is_known_not_to_take_the_seed_is_not_cached_from_the_start(store: ReplyStore) -> None:
    @dataclass
    class Seedless(Fake):
        ignores: frozenset[str] = frozenset({"seed"})

    fake = Seedless([said("a"), said("b"), said("c"), said("d")], takes_s=0.01)
    model = Cached(fake, store)
    request = Request.of("hi", sampling=Sampling(seed=1))
    assert model.explain(request) == "miss: sampled (the model does not take seed)"
    replies = await asyncio.gather(*(model.reply(request) for _ in range(3)))
    assert sorted(reply.text for reply in replies) == ["a", "b", "c"]
    assert {reply.cache for reply in replies} == {"miss: sampled (the model does not take seed)"}
    greedy = Request.of("hi", sampling=Sampling(seed=1, temperature=0))
    assert [(await model.reply(greedy)).cache for _ in range(2)] == ["miss: first time", "hit"]
