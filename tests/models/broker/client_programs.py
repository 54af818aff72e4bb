"""Programs of client packages, each run in a process of its own: `client_programs.py PACKAGE CELL URL TOKEN`.

Nothing but the package and the standard library is imported, so that the packages may live in environments of their
own. A program prints one JSON object: the text, or the value, that the package made of the answer.
"""

from __future__ import annotations

import asyncio
import base64
import importlib.util
import json
import sys
from typing import Any

CELLS = ("whole", "streamed", "tools", "structured", "images")
PACKAGES = {
    "openai": "openai",
    "openai-responses": "openai",
    "anthropic": "anthropic",
    "google-genai": "google.genai",
    "litellm": "litellm",
    "langchain-openai": "langchain_openai",
    "langchain-anthropic": "langchain_anthropic",
    "pydantic-ai-openai": "pydantic_ai",
    "pydantic-ai-anthropic": "pydantic_ai",
    "pydantic-ai-google": "pydantic_ai",
    "instructor": "instructor",
    "openai-agents": "agents",
    "smolagents": "smolagents",
}
"""Names of the programs, and the module without which each is skipped."""

QUESTION = "How is the weather in Oslo?"
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
DATA = base64.b64encode(PIXEL).decode()
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "degrees": {"type": "integer"}},
    "required": ["city", "degrees"],
    "additionalProperties": False,
}
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def weather(city: str) -> str:
    """Tell the weather of a city.

    Args:
        city: the city.
    """
    return f"cold in {city}"


def forecast() -> Any:
    """Return the class of a structured answer."""
    from pydantic import BaseModel

    return type("Forecast", (BaseModel,), {"__annotations__": {"city": str, "degrees": int}, "__module__": __name__})


def main(package: str, cell: str, url: str, token: str) -> Any:
    """Run a cell of a package."""
    name = package.replace("-", "_")
    result = globals()[f"_{name}"](cell, url, token)
    return asyncio.run(result) if asyncio.iscoroutine(result) else result


def _openai(cell: str, url: str, token: str) -> Any:
    import openai

    create = openai.OpenAI(base_url=f"{url}/v1", api_key=token, max_retries=0).chat.completions
    said: list[Any] = [{"role": "user", "content": QUESTION}]
    given: dict[str, Any] = {"model": "m", "messages": said}
    match cell:
        case "streamed":
            return "".join(c.choices[0].delta.content or "" for c in create.create(**given, stream=True))
        case "structured":
            return create.parse(**given, response_format=forecast()).choices[0].message.parsed.model_dump()
        case "images":
            picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}}
            said[0]["content"] = [{"type": "text", "text": QUESTION}, picture]
        case "tools":
            function = {"name": "weather", "parameters": PARAMETERS}
            given["tools"] = [{"type": "function", "function": function}]
            message = create.create(**given).choices[0].message
            said.append(message)
            said += [
                {"role": "tool", "tool_call_id": c.id, "content": weather(**json.loads(c.function.arguments))}
                for c in message.tool_calls
            ]
    return create.create(**given).choices[0].message.content


def _openai_responses(cell: str, url: str, token: str) -> Any:
    import openai

    create = openai.OpenAI(base_url=f"{url}/v1", api_key=token, max_retries=0).responses
    content: list[Any] = [{"type": "input_text", "text": QUESTION}]
    given: dict[str, Any] = {"model": "m", "input": [{"role": "user", "content": content}]}
    match cell:
        case "streamed":
            with create.stream(**given) as stream:
                return "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        case "structured":
            return create.parse(**given, text_format=forecast()).output_parsed.model_dump()
        case "images":
            content.append({"type": "input_image", "image_url": f"data:image/png;base64,{DATA}", "detail": "auto"})
        case "tools":
            given["tools"] = [{"type": "function", "name": "weather", "parameters": PARAMETERS, "strict": False}]
            first = create.create(**given)
            given["input"] = [
                {"type": "function_call_output", "call_id": c.call_id, "output": weather(**json.loads(c.arguments))}
                for c in first.output
                if c.type == "function_call"
            ]
            given["previous_response_id"] = first.id
    return create.create(**given).output_text


def _anthropic(cell: str, url: str, token: str) -> Any:
    import anthropic

    create = anthropic.Anthropic(base_url=url, api_key=token, max_retries=0).messages
    said: list[Any] = [{"role": "user", "content": QUESTION}]
    given: dict[str, Any] = {"model": "m", "max_tokens": 2000, "messages": said}
    match cell:
        case "streamed":
            with create.stream(**given) as stream:
                return "".join(stream.text_stream)
        case "structured":
            return create.parse(**given, output_format=forecast()).parsed_output.model_dump()
        case "images":
            source = {"type": "base64", "media_type": "image/png", "data": DATA}
            said[0]["content"] = [{"type": "text", "text": QUESTION}, {"type": "image", "source": source}]
        case "tools":
            given["tools"] = [{"name": "weather", "input_schema": PARAMETERS}]
            message = create.create(**given)
            said.append({"role": "assistant", "content": message.content})
            results = [
                {"type": "tool_result", "tool_use_id": b.id, "content": weather(**b.input)}
                for b in message.content
                if b.type == "tool_use"
            ]
            said.append({"role": "user", "content": results})
    return "".join(b.text for b in create.create(**given).content if b.type == "text")


def _google_genai(cell: str, url: str, token: str) -> Any:
    from google import genai

    options = genai.types.HttpOptions(base_url=url, retry_options=genai.types.HttpRetryOptions(attempts=1))
    # Kept: a client that is collected closes its connections.
    client = genai.Client(api_key=token, http_options=options)
    models = client.models
    given: dict[str, Any] = {"model": "m", "contents": [QUESTION]}
    match cell:
        case "streamed":
            return "".join(piece.text or "" for piece in models.generate_content_stream(**given))
        case "structured":
            config = {"response_mime_type": "application/json", "response_schema": forecast()}
            return models.generate_content(**given, config=config).parsed.model_dump()
        case "images":
            given["contents"].append(genai.types.Part.from_bytes(data=PIXEL, mime_type="image/png"))
        case "tools":
            given["config"] = {"tools": [weather]}
    return models.generate_content(**given).text


def _litellm(cell: str, url: str, token: str) -> Any:
    import litellm

    said: list[Any] = [{"role": "user", "content": QUESTION}]
    given: dict[str, Any] = {"model": "openai/m", "messages": said, "api_base": f"{url}/v1", "api_key": token}
    match cell:
        case "streamed":
            pieces: Any = litellm.completion(**given, stream=True)
            return "".join(piece.choices[0].delta.content or "" for piece in pieces)
        case "structured":
            form = {"type": "json_schema", "json_schema": {"name": "forecast", "schema": SCHEMA, "strict": True}}
            answer: Any = litellm.completion(**given, response_format=form)
            return json.loads(answer.choices[0].message.content)
        case "images":
            picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}}
            said[0]["content"] = [{"type": "text", "text": QUESTION}, picture]
        case "tools":
            given["tools"] = [{"type": "function", "function": {"name": "weather", "parameters": PARAMETERS}}]
            first: Any = litellm.completion(**given)
            message = first.choices[0].message
            said.append(message)
            said += [
                {"role": "tool", "tool_call_id": c.id, "content": weather(**json.loads(c.function.arguments))}
                for c in message.tool_calls
            ]
    whole: Any = litellm.completion(**given)
    return whole.choices[0].message.content


def _langchain(chat: Any, cell: str) -> Any:
    from langchain_core.messages import HumanMessage, ToolMessage
    from langchain_core.tools import tool

    match cell:
        case "streamed":
            return "".join(piece.text for piece in chat.stream(QUESTION))
        case "structured":
            return chat.with_structured_output(forecast()).invoke(QUESTION).model_dump()
        case "images":
            picture = {"type": "image", "base64": DATA, "mime_type": "image/png"}
            return chat.invoke([HumanMessage([{"type": "text", "text": QUESTION}, picture])]).text
        case "tools":
            able, said = chat.bind_tools([tool(weather)]), [HumanMessage(QUESTION)]
            said.append(able.invoke(said))
            said += [ToolMessage(weather(**c["args"]), tool_call_id=c["id"]) for c in said[-1].tool_calls]
            return able.invoke(said).text
        case _:
            return chat.invoke(QUESTION).text


def _langchain_openai(cell: str, url: str, token: str) -> Any:
    from langchain_openai import ChatOpenAI

    return _langchain(ChatOpenAI(model="m", base_url=f"{url}/v1", api_key=token, max_retries=0), cell)


def _langchain_anthropic(cell: str, url: str, token: str) -> Any:
    from langchain_anthropic import ChatAnthropic

    return _langchain(ChatAnthropic(model="m", base_url=url, api_key=token, max_retries=0, max_tokens=2000), cell)


async def _pydantic_ai(model: Any, cell: str) -> Any:
    from pydantic_ai import Agent, BinaryContent, NativeOutput

    match cell:
        case "streamed":
            async with Agent(model).run_stream(QUESTION) as run:
                return "".join([piece async for piece in run.stream_text(delta=True)])
        case "structured":
            answer: Any = (await Agent(model, output_type=NativeOutput(forecast())).run(QUESTION)).output
            return answer.model_dump()
        case "images":
            return (await Agent(model).run([QUESTION, BinaryContent(PIXEL, media_type="image/png")])).output
        case "tools":
            return (await Agent(model, tools=[weather]).run(QUESTION)).output
        case _:
            return (await Agent(model).run(QUESTION)).output


def _pydantic_ai_openai(cell: str, url: str, token: str) -> Any:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return _pydantic_ai(OpenAIChatModel("m", provider=OpenAIProvider(base_url=f"{url}/v1", api_key=token)), cell)


def _pydantic_ai_anthropic(cell: str, url: str, token: str) -> Any:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(base_url=url, api_key=token)
    # The profile of a name that the package does not know has no structured output.
    return _pydantic_ai(AnthropicModel("claude-sonnet-4-5", provider=provider), cell)


def _pydantic_ai_google(cell: str, url: str, token: str) -> Any:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    return _pydantic_ai(GoogleModel("gemini-2.5-flash", provider=GoogleProvider(base_url=url, api_key=token)), cell)


def _instructor(cell: str, url: str, token: str) -> Any:
    import instructor
    import openai

    plain = openai.OpenAI(base_url=f"{url}/v1", api_key=token, max_retries=0)
    client = instructor.from_openai(plain, mode=instructor.Mode.JSON_SCHEMA)
    said: list[Any] = [{"role": "user", "content": QUESTION}]
    match cell:
        case "streamed":
            made: Any = list(
                client.chat.completions.create_partial(model="m", messages=said, response_model=forecast())
            )
            return made[-1].model_dump()
        case "tools":
            client = instructor.from_openai(plain, mode=instructor.Mode.TOOLS)
        case "images":
            said[0]["content"] = [QUESTION, instructor.Image(source=DATA, media_type="image/png", data=DATA)]
    answer: Any = client.chat.completions.create(model="m", messages=said, response_model=forecast(), max_retries=0)
    return answer.model_dump()


async def _openai_agents(cell: str, url: str, token: str) -> Any:
    import openai

    import agents

    agents.set_tracing_disabled(True)
    client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=token, max_retries=0)
    agent: Any = agents.Agent(name="a", model=agents.OpenAIResponsesModel("m", client))
    asked: Any = QUESTION
    match cell:
        case "streamed":
            run = agents.Runner.run_streamed(agent, asked)
            events = [e.data async for e in run.stream_events() if e.type == "raw_response_event"]
            return "".join(getattr(e, "delta", "") for e in events if e.type == "response.output_text.delta")
        case "structured":
            agent = agent.clone(output_type=forecast())
            return (await agents.Runner.run(agent, asked)).final_output.model_dump()
        case "images":
            picture = {"type": "input_image", "image_url": f"data:image/png;base64,{DATA}", "detail": "auto"}
            asked = [{"role": "user", "content": [{"type": "input_text", "text": QUESTION}, picture]}]
        case "tools":
            agent = agent.clone(tools=[agents.function_tool(weather)])
    return (await agents.Runner.run(agent, asked)).final_output


def _smolagents(cell: str, url: str, token: str) -> Any:
    import io

    import PIL.Image
    import smolagents

    model = smolagents.OpenAIModel("m", api_base=f"{url}/v1", api_key=token)
    content: list[Any] = [{"type": "text", "text": QUESTION}]
    said: Any = [{"role": "user", "content": content}]
    match cell:
        case "streamed":
            return "".join(piece.content or "" for piece in model.generate_stream(said))
        case "structured":
            form = {"type": "json_schema", "json_schema": {"name": "forecast", "schema": SCHEMA, "strict": True}}
            return json.loads(str(model.generate(said, response_format=form).content))
        case "images":
            content.append({"type": "image", "image": PIL.Image.open(io.BytesIO(PIXEL))})
        case "tools":
            agent = smolagents.ToolCallingAgent([smolagents.tool(weather)], model, max_steps=3, verbosity_level=0)
            return str(agent.run(QUESTION))
    return model.generate(said).content


def importable(package: str) -> bool:
    """Return whether this interpreter has the module of a package."""
    try:
        return importlib.util.find_spec(PACKAGES[package]) is not None
    except ModuleNotFoundError:
        return False


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(*sys.argv[1:])) + "\n")
