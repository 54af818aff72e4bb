"""The vendors' own packages talk to a broker: sync and async, streaming and not, tools in both directions."""

from __future__ import annotations

import asyncio
from typing import Any

import anthropic
import httpx
import openai
import pytest
from tests.models.broker.fakes import TOKEN, USED, FakeModel, WholeModel, bench
from tests.models.broker.programs import PIXEL, PROGRAMS, ChatProgram, MessagesProgram, ResponsesProgram

from heredity.models import Image, Message, Reply, ToolCall, Usage
from heredity.models.broker import Account
from heredity.models.scripted import Answer, Rule, Scripted, When

ASKED = Message("user", "How is the weather?", (Image("image/png", PIXEL),))
CALLS = tuple(ToolCall(f"call_{city}", "weather", f'{{"city": "{city}"}}') for city in ("Oslo", "Lima"))
WHOLE = [
    Message("system", "Be brief."),
    ASKED,
    Message("assistant", "Let me look.", tool_calls=CALLS),
    Message("tool", "cold", tool_call_id="call_Oslo"),
    Message("tool", "warm", tool_call_id="call_Lima"),
]

each_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
each_way = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@each_program
@each_way
@pytest.mark.parametrize("parallel", [False, True], ids=["sync", "async"])
async def test_a_conversation_with_tools_arrives_whole_and_is_metered(
    program: Any, streamed: bool, parallel: bool
) -> None:
    model = FakeModel()
    async with bench(model) as table:
        client = program(table.url, TOKEN)

        async def ask(asked: dict[str, Any]) -> Any:
            if parallel:
                return await client.ask_async(asked, streamed=streamed)
            return await asyncio.to_thread(client.ask, asked, streamed=streamed)

        asked = client.begin()
        first = await ask(asked)
        second = await ask(client.go_on(asked, first))

    assert first.text == "Let me look."
    assert first.calls == [("call_Oslo", "weather", {"city": "Oslo"}), ("call_Lima", "weather", {"city": "Lima"})]
    assert (second.text, second.calls) == ("It is cold and warm.", [])
    assert (first.finish, second.finish) == program.finishes
    assert first.tokens == second.tokens == (USED.input_tokens, USED.output_tokens)
    assert list(model.requests[1].messages) == WHOLE
    assert [tool.name for tool in model.requests[0].tools] == ["weather"]
    assert model.requests[0].sampling.to_json() == {"temperature": 0.5, "max_tokens": 50}
    assert table.ledger.total.usage == Usage(200, 40, 80, 0.5)
    assert [r.digest for r in table.records] == [r.digest for r in model.requests]
    assert {(r.outcome, r.model, r.streamed, r.run) for r in table.records} == {("answered", "fake", streamed, "run")}


@each_program
@each_way
async def test_a_scripted_model_plays_its_part_through_each_api(program: Any, streamed: bool) -> None:
    look = Rule(Answer("Let me look.", [("weather", {"city": "Oslo"})]), When(tool="weather", results=0))
    async with bench(Scripted([look, Rule("It is ${result}.")])) as table:
        client = program(table.url, TOKEN)
        asked = client.begin()
        first = await client.ask_async(asked, streamed=streamed)
        second = await client.ask_async(client.go_on(asked, first), streamed=streamed)
    assert [(name, given) for _, name, given in first.calls] == [("weather", {"city": "Oslo"})]
    assert second.text == "It is cold."
    total = table.ledger.total.usage
    assert (total.input_tokens, total.output_tokens) == tuple(map(sum, zip(first.tokens, second.tokens, strict=True)))
    assert total.cost_usd == 0


@each_program
async def test_a_model_that_cannot_stream_answers_a_stream_in_one_piece(program: Any) -> None:
    async with bench(WholeModel()) as table:
        client = program(table.url, TOKEN)
        turn = await client.ask_async({**client.begin(), "model": "fake"}, streamed=True)
    assert (turn.text, table.records[0].model) == ("all at once", "whole")


async def test_the_pieces_of_a_stream_come_while_the_model_still_writes() -> None:
    model = FakeModel(lambda request: Reply("one two three", usage=USED))
    model.held, model.holds_after = asyncio.Event(), 2
    async with bench(model) as table:
        client = ChatProgram(table.url, TOKEN).parallel
        question = {"model": "fake", "messages": [{"role": "user", "content": "?"}]}
        seen = ""
        async for chunk in await client.chat.completions.create(**question, stream=True):
            seen += chunk.choices[0].delta.content or ""
            if seen == "one two ":
                assert not model.held.is_set()
                model.held.set()
    assert seen == "one two three"


async def test_events_of_responses_are_numbered_without_a_gap() -> None:
    async with bench() as table:
        client = ResponsesProgram(table.url, TOKEN)
        events = [e async for e in await client.parallel.responses.create(**client.begin(), stream=True)]
    assert [e.sequence_number for e in events] == list(range(len(events)))
    kinds = [e.type for e in events]
    assert (kinds[0], kinds[1], kinds[-1]) == ("response.created", "response.in_progress", "response.completed")
    assert kinds.count("response.function_call_arguments.delta") == 2


async def test_events_of_messages_come_in_the_order_of_their_protocol() -> None:
    async with bench() as table:
        client = MessagesProgram(table.url, TOKEN)
        events = [e async for e in await client.parallel.messages.create(**client.begin(), stream=True)]
    kinds = [e.type for e in events]
    assert (kinds[0], kinds[-2:]) == ("message_start", ["message_delta", "message_stop"])
    blocks = [(e.type, e.index) for e in events if e.type in ("content_block_start", "content_block_stop")]
    assert blocks == [(f"content_block_{what}", i) for i in range(3) for what in ("start", "stop")]


@each_program
@pytest.mark.parametrize(
    ("reply", "finishes"),
    [
        (Reply("cut", finish="length", usage=USED), {"length", "incomplete", "max_tokens"}),
        (Reply("I will not", finish="refusal", usage=USED), {"content_filter", "incomplete", "refusal"}),
    ],
    ids=["length", "refusal"],
)
async def test_why_a_reply_ended_is_told_in_each_apis_words(program: Any, reply: Reply, finishes: set[str]) -> None:
    async with bench(FakeModel(lambda request: reply)) as table:
        client = program(table.url, TOKEN)
        assert (await client.ask_async(client.begin(), streamed=False)).finish in finishes


async def test_a_stream_that_is_cut_short_says_so_in_responses() -> None:
    async with bench(FakeModel(lambda request: Reply("cut", finish="length", usage=USED))) as table:
        client = ResponsesProgram(table.url, TOKEN)
        events = [e async for e in await client.parallel.responses.create(**client.begin(), stream=True)]
    assert events[-1].type == "response.incomplete"
    assert events[-1].response.incomplete_details.reason == "max_output_tokens"


@each_way
async def test_usage_that_is_unknown_is_not_made_up_for_openai(streamed: bool) -> None:
    async with bench(FakeModel(lambda request: Reply("hm", usage=Usage()))) as table:
        openai_client = ChatProgram(table.url, TOKEN).parallel
        question: dict[str, Any] = {"model": "fake", "messages": [{"role": "user", "content": "?"}]}
        answer = await openai_client.chat.completions.create(**question)
        assert answer.usage is None
        messages = MessagesProgram(table.url, TOKEN)
        turn = await messages.ask_async({**messages.begin(), "tools": []}, streamed=streamed)
        assert turn.tokens[0] > 1000
        assert turn.tokens[1] == 1
    assert table.ledger.total.usage == Usage(None, None, None, None)
    assert set(table.ledger.total.unknown.values()) == {2}


@each_way
async def test_arguments_that_are_no_object_reach_an_anthropic_program_as_text(streamed: bool) -> None:
    broken = Reply("", (ToolCall("c", "weather", '{"city": NaN'),), usage=USED)
    async with bench(FakeModel(lambda request: broken)) as table:
        client = MessagesProgram(table.url, TOKEN)
        turn = await client.ask_async(client.begin(), streamed=streamed)
    assert turn.calls == [("c", "weather", {"invalid_arguments": '{"city": NaN'})]


async def test_the_token_may_stand_in_the_path_or_in_either_header() -> None:
    async with bench() as table:
        base = f"{table.url}/t/{TOKEN}"
        for program in PROGRAMS:
            client = program(base, "whatever")
            assert (await client.ask_async(client.begin(), streamed=True)).text == "Let me look."
        bearer = MessagesProgram(table.url, None, auth_token=TOKEN)
        assert (await bearer.ask_async(bearer.begin(), streamed=False)).text == "Let me look."


async def test_models_are_listed_to_both_packages() -> None:
    account = Account("run", {"small": "fake", "large": "fake", "*": "fake"}, token=TOKEN)
    async with bench(None, account) as table:
        openai_client, anthropic_client = (p(table.url, TOKEN).parallel for p in (ChatProgram, MessagesProgram))
        assert [m.id async for m in openai_client.models.list()] == ["fake", "large", "small"]
        assert [m.id async for m in anthropic_client.models.list()] == ["fake", "large", "small"]
        assert (await openai_client.models.retrieve("any/thing")).id == "any/thing"
        assert (await anthropic_client.models.retrieve("small")).display_name == "small"


async def test_a_response_is_continued_only_by_its_own_account_and_only_if_stored() -> None:
    accounts = [Account(name, token=f"{name}-token-0123456789") for name in ("one", "two")]
    model = FakeModel(lambda request: Reply(f"{len(request.messages)} messages", usage=USED))
    async with bench(model, *accounts) as table:
        one, two = (ResponsesProgram(table.url, account.token).parallel.responses for account in accounts)
        first = await one.create(model="fake", input="a", instructions="short")
        second = await one.create(model="fake", input="b", previous_response_id=first.id)
        assert second.output_text == "3 messages"
        assert [m.content for m in model.requests[-1].messages] == ["a", "2 messages", "b"]
        with pytest.raises(openai.BadRequestError, match="not known") as caught:
            await two.create(model="fake", input="b", previous_response_id=first.id)
        assert caught.value.param == "previous_response_id"
        unstored = await one.create(model="fake", input="a", store=False)
        with pytest.raises(openai.BadRequestError, match="not known"):
            await one.create(model="fake", input="b", previous_response_id=unstored.id)


async def test_pictures_of_a_tools_result_follow_it_as_the_users() -> None:
    model = FakeModel()
    async with bench(model) as table:
        client = MessagesProgram(table.url, TOKEN)
        asked = client.begin()
        asked = client.go_on(asked, await client.ask_async(asked, streamed=False))
        picture = asked["messages"][0]["content"][1]
        asked["messages"][-1]["content"][0].update(content=[picture], is_error=True)
        asked["messages"].append({"role": "assistant", "content": "Seen."})
        await client.ask_async(asked, streamed=False)
    roles = [(m.role, m.content, len(m.images)) for m in model.requests[-1].messages[3:]]
    assert roles == [("tool", "error: ", 0), ("tool", "warm", 0), ("user", "", 1), ("assistant", "Seen.", 0)]


async def test_tokens_are_counted_by_estimate_and_free_of_charge() -> None:
    async with bench() as table:
        client = MessagesProgram(table.url, TOKEN).parallel
        short, long = [
            (await client.messages.count_tokens(model="fake", messages=[{"role": "user", "content": "word " * n}]))
            for n in (1, 1000)
        ]
    assert (short.input_tokens, long.input_tokens) == (2, 1250)
    assert table.ledger.total.calls == 0


async def test_the_betas_of_messages_are_answered_alike() -> None:
    async with bench() as table:
        client = MessagesProgram(table.url, TOKEN).parallel
        given: Any = {"model": "fake", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}]}
        answer = await client.beta.messages.create(**given, betas=["context-1m-2025-08-07"])
    assert isinstance(answer.content[0], anthropic.types.beta.BetaTextBlock)


async def test_a_unix_socket_serves_the_same_and_is_removed(tmp_path: Any) -> None:
    path = tmp_path / "b.sock"
    async with bench(socket=path) as table:
        transport = httpx.AsyncHTTPTransport(uds=str(path))
        async with httpx.AsyncClient(transport=transport, base_url="http://broker") as client:
            asked = {"model": "fake", "messages": [{"role": "user", "content": "?"}]}
            assert (await client.post("/v1/chat/completions", json=asked)).status_code == 401
            answer = await client.post(f"/t/{TOKEN}/v1/chat/completions", json=asked)
            assert answer.json()["choices"][0]["message"]["content"] == "It is unknown."
        assert table.at.socket == path
    assert not path.exists()


async def test_a_response_is_retrieved_with_its_items_by_its_own_account_and_forgotten() -> None:
    accounts = [Account(name, token=f"{name}-token-0123456789") for name in ("one", "two")]
    async with bench(None, *accounts) as table:
        one, two = (ResponsesProgram(table.url, account.token).parallel.responses for account in accounts)
        given = await one.create(model="fake", input="How is it?")
        more = await one.create(
            model="fake", input=[{"role": "user", "content": "And?"}], previous_response_id=given.id
        )
        async with one.stream(model="fake", input="How?") as stream:
            streamed = await stream.get_final_response()
        for response in (given, more, streamed):
            again = await one.retrieve(response.id)
            assert (again.id, again.output_text, again.usage) == (response.id, "It is unknown.", response.usage)
        listed = [item async for item in await one.input_items.list(more.id)]
        assert [(item.type, item.role, item.content) for item in listed] == [("message", "user", "And?")]
        with pytest.raises(openai.NotFoundError, match="no response"):
            await two.retrieve(given.id)
        await one.delete(given.id)
        with pytest.raises(openai.NotFoundError, match="no response"):
            await one.retrieve(given.id)
        unstored = await one.create(model="fake", input="a", store=False)
        with pytest.raises(openai.NotFoundError, match="store: false"):
            await one.retrieve(unstored.id)


async def test_the_input_of_responses_is_counted_free_of_charge() -> None:
    async with bench() as table:
        client = ResponsesProgram(table.url, TOKEN).parallel
        counted = await client.responses.input_tokens.count(model="fake", input="word " * 1000)
        assert (counted.object, counted.input_tokens) == ("response.input_tokens", 1250)
        with pytest.raises(openai.NotFoundError, match="/v1/chat/completions"):
            await client.completions.create(model="fake", prompt="Once")
    assert table.ledger.total.calls == 0
