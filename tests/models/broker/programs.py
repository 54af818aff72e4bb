"""Programs that use a broker through the real client packages: the same two turns in each API's words.

Each gives the text and the tool calls of both turns, and the tokens that it was told of.
"""

from __future__ import annotations

import base64
import json
from typing import Any, NamedTuple

import anthropic
import openai

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
PIXEL = b"\x89PNG\r\n\x1a\n-not-much-of-a-picture"
DATA = base64.b64encode(PIXEL).decode()
FOUND = {"Oslo": "cold", "Lima": "warm"}


class Turn(NamedTuple):
    text: str
    calls: list[tuple[str, str, dict[str, Any]]]
    tokens: tuple[int, int]
    finish: str


class OpenAIClients:
    """The `openai` package: one client that waits, one that does not."""

    def __init__(self, url: str, token: str | None, **options: Any) -> None:
        given = {"base_url": f"{url}/v1", "api_key": token, "max_retries": 0, **options}
        self.plain, self.parallel = openai.OpenAI(**given), openai.AsyncOpenAI(**given)


class ChatProgram(OpenAIClients):
    """Chat completions."""

    finishes = ("tool_calls", "stop")

    def begin(self) -> dict[str, Any]:
        picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}}
        content = [{"type": "text", "text": "How is the weather?"}, picture]
        messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": content}]
        tools = [{"type": "function", "function": {"name": "weather", "parameters": PARAMETERS}}]
        return {"model": "fake", "messages": messages, "tools": tools, "max_completion_tokens": 50, "temperature": 0.5}

    def go_on(self, asked: dict[str, Any], turn: Turn) -> dict[str, Any]:
        calls = [
            {"id": i, "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            for i, name, given in turn.calls
        ]
        messages = [*asked["messages"], {"role": "assistant", "content": turn.text, "tool_calls": calls}]
        messages += [{"role": "tool", "tool_call_id": i, "content": FOUND[g["city"]]} for i, _, g in turn.calls]
        return {**asked, "messages": messages}

    def ask(self, asked: dict[str, Any], *, streamed: bool) -> Turn:
        if streamed:
            with self.plain.chat.completions.stream(**asked, stream_options={"include_usage": True}) as stream:
                return self._turn(stream.get_final_completion())
        return self._turn(self.plain.chat.completions.create(**asked))

    async def ask_async(self, asked: dict[str, Any], *, streamed: bool) -> Turn:
        if streamed:
            async with self.parallel.chat.completions.stream(**asked, stream_options={"include_usage": True}) as stream:
                return self._turn(await stream.get_final_completion())
        return self._turn(await self.parallel.chat.completions.create(**asked))

    def _turn(self, got: Any) -> Turn:
        choice = got.choices[0]
        calls = [(c.id, c.function.name, json.loads(c.function.arguments)) for c in choice.message.tool_calls or []]
        tokens = (got.usage.prompt_tokens, got.usage.completion_tokens)
        return Turn(choice.message.content, calls, tokens, choice.finish_reason)


class ResponsesProgram(OpenAIClients):
    """Responses; the second turn continues the first by its id."""

    finishes = ("completed", "completed")

    def begin(self) -> dict[str, Any]:
        picture = {"type": "input_image", "image_url": f"data:image/png;base64,{DATA}", "detail": "auto"}
        content = [{"type": "input_text", "text": "How is the weather?"}, picture]
        tools = [{"type": "function", "name": "weather", "parameters": PARAMETERS}, {"type": "web_search"}]
        given = {"model": "fake", "instructions": "Be brief.", "input": [{"role": "user", "content": content}]}
        return {**given, "tools": tools, "max_output_tokens": 50, "temperature": 0.5}

    def go_on(self, asked: dict[str, Any], turn: Turn) -> dict[str, Any]:
        results = [
            {"type": "function_call_output", "call_id": i, "output": FOUND[given["city"]]} for i, _, given in turn.calls
        ]
        return {**asked, "input": results, "previous_response_id": self.last}

    def ask(self, asked: dict[str, Any], *, streamed: bool) -> Turn:
        if streamed:
            with self.plain.responses.stream(**asked) as stream:
                return self._turn(stream.get_final_response())
        return self._turn(self.plain.responses.create(**asked))

    async def ask_async(self, asked: dict[str, Any], *, streamed: bool) -> Turn:
        if streamed:
            async with self.parallel.responses.stream(**asked) as stream:
                return self._turn(await stream.get_final_response())
        return self._turn(await self.parallel.responses.create(**asked))

    def _turn(self, got: Any) -> Turn:
        self.last = got.id
        calls = [(i.call_id, i.name, json.loads(i.arguments)) for i in got.output if i.type == "function_call"]
        return Turn(got.output_text, calls, (got.usage.input_tokens, got.usage.output_tokens), got.status)


class MessagesProgram:
    """Anthropic's messages."""

    finishes = ("tool_use", "end_turn")

    def __init__(self, url: str, token: str | None, **options: Any) -> None:
        given = {"base_url": url, "api_key": token, "max_retries": 0, **options}
        self.plain, self.parallel = anthropic.Anthropic(**given), anthropic.AsyncAnthropic(**given)

    def begin(self) -> dict[str, Any]:
        source = {"type": "base64", "media_type": "image/png", "data": DATA}
        content = [{"type": "text", "text": "How is the weather?"}, {"type": "image", "source": source}]
        system = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
        tools = [{"name": "weather", "input_schema": PARAMETERS}, {"type": "web_search_20250305", "name": "web_search"}]
        given = {"model": "fake", "system": system, "messages": [{"role": "user", "content": content}]}
        return {**given, "tools": tools, "max_tokens": 50, "extra_body": {"temperature": 0.5}}

    def go_on(self, asked: dict[str, Any], turn: Turn) -> dict[str, Any]:
        said = [{"type": "thinking", "thinking": "hm", "signature": ""}, {"type": "text", "text": turn.text}]
        said += [{"type": "tool_use", "id": i, "name": name, "input": given} for i, name, given in turn.calls]
        tool_results = [
            {"type": "tool_result", "tool_use_id": i, "content": FOUND[g["city"]]} for i, _, g in turn.calls
        ]
        messages = [{"role": "assistant", "content": said}, {"role": "user", "content": tool_results}]
        return {**asked, "messages": [*asked["messages"], *messages]}

    def ask(self, asked: dict[str, Any], *, streamed: bool) -> Turn:
        if streamed:
            with self.plain.messages.stream(**asked) as stream:
                return self._turn(stream.get_final_message())
        return self._turn(self.plain.messages.create(**asked))

    async def ask_async(self, asked: dict[str, Any], *, streamed: bool) -> Turn:
        if streamed:
            async with self.parallel.messages.stream(**asked) as stream:
                return self._turn(await stream.get_final_message())
        return self._turn(await self.parallel.messages.create(**asked))

    def _turn(self, got: Any) -> Turn:
        text = "".join(b.text for b in got.content if b.type == "text")
        calls = [(b.id, b.name, b.input) for b in got.content if b.type == "tool_use"]
        given = got.usage.input_tokens + got.usage.cache_read_input_tokens
        return Turn(text, calls, (given, got.usage.output_tokens), got.stop_reason)


PROGRAMS = (ChatProgram, ResponsesProgram, MessagesProgram)


class GeminiProgram:
    """Google's `generateContent`, by the package `google-genai`."""

    def __init__(self, url: str, token: str | None) -> None:
        from google import genai

        options = genai.types.HttpOptions(base_url=url, retry_options=genai.types.HttpRetryOptions(attempts=1))
        self.client = genai.Client(api_key=token, http_options=options)

    def begin(self) -> dict[str, Any]:
        picture = {"inline_data": {"mime_type": "image/png", "data": PIXEL}}
        contents = [{"role": "user", "parts": [{"text": "How is the weather?"}, picture]}]
        declared = {"name": "weather", "parameters_json_schema": PARAMETERS}
        tools = [{"function_declarations": [declared]}, {"google_search": {}}]
        limits = {"max_output_tokens": 50, "temperature": 0.5}
        return {
            "model": "fake",
            "contents": contents,
            "config": {"system_instruction": "Be brief.", "tools": tools, **limits},
        }

    def go_on(self, asked: dict[str, Any], turn: Turn) -> dict[str, Any]:
        said: list[Any] = [{"text": turn.text}]
        said += [{"function_call": {"id": i, "name": name, "args": given}} for i, name, given in turn.calls]
        results = [
            {"function_response": {"id": i, "name": name, "response": {"output": FOUND[given["city"]]}}}
            for i, name, given in turn.calls
        ]
        more = [{"role": "model", "parts": said}, {"role": "user", "parts": results}]
        return {**asked, "contents": [*asked["contents"], *more]}

    def ask(self, asked: dict[str, Any], *, streamed: bool) -> Turn:
        if streamed:
            return self._turn(list(self.client.models.generate_content_stream(**asked)))
        return self._turn([self.client.models.generate_content(**asked)])

    async def ask_async(self, asked: dict[str, Any], *, streamed: bool) -> Turn:
        if streamed:
            return self._turn([piece async for piece in await self.client.aio.models.generate_content_stream(**asked)])
        return self._turn([await self.client.aio.models.generate_content(**asked)])

    def _turn(self, got: list[Any]) -> Turn:
        parts = [part for piece in got for part in piece.candidates[0].content.parts]
        calls = [(p.function_call.id, p.function_call.name, p.function_call.args) for p in parts if p.function_call]
        usage = got[-1].usage_metadata
        tokens = (usage.prompt_token_count, usage.candidates_token_count)
        text = "".join(part.text or "" for part in parts if not part.thought)
        return Turn(text, calls, tokens, got[-1].candidates[0].finish_reason.value)
