"""What a probe finds out about models that can much, little or nothing, and on what evidence."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="needs the extra llm")

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.models.probe import Probe, probe
from heredity.models.settings import GatewaySettings

from .endpoint import Answer, Asked, Endpoint, chunks, completion, endpoint, failure


@dataclass
class Server:
    """A server with one model, `great-model`, that can do what it is told; an empty list for none."""

    seeds: bool = True
    greedy: bool = False
    tools: bool = True
    schemas: bool = True
    cut_at: int | None = None
    refuses: tuple[str, ...] = ()
    models: list[dict[str, Any]] = field(default_factory=lambda: [{"id": "great-model"}])
    paths: dict[str, Any] = field(default_factory=dict[str, Any])
    draws: random.Random = field(default_factory=lambda: random.Random(5))

    def __call__(self, asked: Asked) -> Answer:
        if asked.path == "/v1/models":
            return Answer({"data": self.models}) if self.models else failure(404)
        if asked.body is None:
            return Answer(self.paths[asked.path]) if asked.path in self.paths else failure(404)
        body = asked.body
        for name in self.refuses:
            if name in body:
                return failure(400, f"Unsupported parameter: {name!r} is not supported with this model.")
        if body["model"] != "great-model":
            return failure(404, f"the model {body['model']} does not exist")
        return self.talk(body, body["messages"][-1]["content"])

    def talk(self, body: dict[str, Any], text: str) -> Answer:
        words = len(text.split())
        used = {"prompt_tokens": min(words, self.cut_at or words), "completion_tokens": 60}
        usage = {**used, "total_tokens": sum(used.values())}
        if body.get("stream"):
            return Answer(events=chunks({"content": "1 2"}, {"content": " 3"}, {"content": " 4"}, usage=usage))
        if body.get("tools") and self.tools:
            call = ("c1", "add", json.dumps({"a": 2, "b": 40}))
            return Answer(completion(None, calls=[call], finish="tool_calls", usage=usage))
        if body.get("response_format") and self.schemas:
            return Answer(completion(json.dumps({"city": "Lagos", "population": 16}), usage=usage))
        draws = random.Random(body.get("seed")) if self.seeds else self.draws
        return Answer(completion("42" if self.greedy else str(draws.random()), usage=usage))


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Endpoint]:
    monkeypatch.setenv("LAB_KEY", "sk-test-0123456789")
    async with endpoint() as played:
        yield played


async def found(server: Endpoint, can: Server, name: str = "lab/great-model", **table: Any) -> Probe:
    server.decide = can
    lab = {"base_url": server.url, "api_key_env": "LAB_KEY", **table}
    return await probe(name, GatewaySettings.of({"providers": {"lab": lab}}))


def answers(result: Probe) -> dict[str, Any]:
    return {name: finding.answer for name, finding in result.findings.items()}


async def test_a_model_that_can_all_of_it_is_found_to(server: Endpoint) -> None:
    models = [{"id": "great-model", "max_model_len": 32768}]
    result = await found(server, Server(models=models), prices={"*": {"input": 1.0, "output": 2.0}})
    yes = dict.fromkeys(("streaming", "seed", "temperature", "tools", "structured_output", "price"), True)
    assert {name: answers(result)[name] for name in yes} == yes
    assert answers(result)["context_tokens"] == 32768
    assert answers(result)["first_text_s"] >= 0
    assert answers(result)["tokens_per_s"] > 0
    assert (result.calls, result.failure) == (6, None)
    assert result.usage.output_tokens == 6 * 60
    assert len([asked for asked in server.asked if asked.body]) == result.calls
    shown = json.loads(json.dumps(result.to_json()))
    assert (shown["reachable"], shown["prices"]["output"], shown["findings"]["seed"]["answer"]) == (True, 2.0, True)


async def test_a_model_that_can_little_is_found_to_and_the_evidence_says_why(server: Endpoint) -> None:
    result = await found(server, Server(seeds=False, tools=False, schemas=False, refuses=("temperature",)))
    names = ("seed", "temperature", "tools", "structured_output", "price")
    assert {name: answers(result)[name] for name in names} == dict.fromkeys(names, False)
    assert "differ" in result.findings["seed"].evidence
    assert result.findings["temperature"].evidence == "its API refused temperature by name"
    assert "in text" in result.findings["tools"].evidence
    assert "does not fit" in result.findings["structured_output"].evidence
    assert 'gateway.providers.lab.prices."great-model"' in result.findings["price"].evidence
    assert answers(result)["context_tokens"] is None


async def test_a_seed_that_is_refused_or_changes_nothing_is_no_seed(server: Endpoint) -> None:
    refused = await found(server, Server(refuses=("seed",)))
    assert (answers(refused)["seed"], refused.findings["seed"].evidence) == (False, "its API refused seed by name")
    omitted = await found(server, Server(), omit=["seed"])
    assert answers(omitted)["seed"] is False
    assert "not tested" in omitted.findings["seed"].evidence
    assert answers(await found(server, Server(greedy=True)))["seed"] is None


@pytest.mark.parametrize("name", ["tools", "response_format"])
async def test_a_refusal_of_a_request_is_a_no(server: Endpoint, name: str) -> None:
    result = await found(server, Server(refuses=(name,)))
    finding = result.findings["tools" if name == "tools" else "structured_output"]
    assert finding.answer is False
    assert "the call failed" in finding.evidence


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/api/ps", {"models": [{"name": "great-model", "context_length": 4096}]}),
        ("/api/v0/models", {"data": [{"id": "great-model", "loaded_context_length": 4096, "max_context_length": 9}]}),
        ("/props", {"default_generation_settings": {"n_ctx": 4096}}),
    ],
)
async def test_a_local_server_tells_the_context_that_a_model_runs_with(
    server: Endpoint, path: str, answer: dict[str, Any]
) -> None:
    result = await found(server, Server(paths={path: answer}))
    assert (answers(result)["context_tokens"], path in result.findings["context_tokens"].evidence) == (4096, True)


async def test_a_server_without_a_key_that_cuts_long_prompts_is_found_out(server: Endpoint) -> None:
    result = await found(server, Server(cut_at=4096), api_key_env="")
    assert answers(result)["context_tokens"] == 4096
    assert "without an error; raise it there" in result.findings["context_tokens"].evidence
    whole = await found(server, Server(), api_key_env="")
    assert answers(whole)["context_tokens"] is None
    assert "was read whole" in whole.findings["context_tokens"].evidence


async def test_an_unknown_model_is_told_with_near_names(server: Endpoint) -> None:
    models = [{"id": "great-model"}, {"id": "great-model-mini"}, {"id": "whisper"}]
    result = await found(server, Server(models=models), name="lab/graet-model")
    assert result.failure is not None
    assert (result.failure.kind, result.near, result.calls) == (
        "unknown_model",
        ("great-model", "great-model-mini"),
        1,
    )
    assert "lists 3 models" in result.advice
    lost = await found(server, Server(models=[]), name="lab/graet-model")
    assert "base_url" in lost.advice


@pytest.mark.parametrize(
    ("answer", "kind", "advice"),
    [
        (failure(401, "no"), "auth", "correct the key in LAB_KEY"),
        (failure(429, "pay", code="insufficient_quota"), "rate_limit", "add credit"),
        (failure(429, "slow down"), "rate_limit", "wait"),
        (Answer(b"<html>"), "garbage", "correct gateway.providers.lab.base_url"),
        (failure(500), "server", ""),
    ],
)
async def test_a_model_that_does_not_answer_gets_one_call_and_an_advice(
    server: Endpoint, answer: Answer, kind: str, advice: str
) -> None:
    server.decide = lambda asked: answer if asked.body else failure(404)
    settings = GatewaySettings.of({"providers": {"lab": {"base_url": server.url, "api_key_env": "LAB_KEY"}}})
    result = await probe("lab/m", settings)
    assert result.failure is not None
    assert (result.failure.kind, result.calls, result.findings) == (kind, 1, {})
    assert result.advice.startswith(advice)
    assert result.to_json()["failure"]["kind"] == kind


async def test_a_key_that_is_not_configured_is_advised(server: Endpoint) -> None:
    server.decide = lambda asked: failure(401)
    result = await probe("lab/m", GatewaySettings.of({"providers": {"lab": {"base_url": server.url}}}))
    assert "gateway.providers.lab.api_key_env" in result.advice


async def test_a_port_where_nobody_listens_is_told() -> None:
    result = await probe("lab/m", GatewaySettings.of({"providers": {"lab": {"base_url": "http://127.0.0.1:1/v1"}}}))
    assert result.failure is not None
    assert (result.failure.kind, result.advice[:16]) == ("connection", "start its server")


async def test_a_role_names_its_model_and_a_route_is_refused(server: Endpoint) -> None:
    server.decide = Server()
    settings = GatewaySettings.of(
        {
            "execution": "lab/great-model",
            "providers": {"lab": {"base_url": server.url, "api_key_env": "LAB_KEY"}},
            "routes": {"cheap": {"models": ["lab/great-model"]}},
        }
    )
    assert (await probe("execution", settings)).model == "lab/great-model"
    with pytest.raises(ConfigError, match="name one of its models: lab/great-model"):
        await probe("cheap", settings)
    with pytest.raises(UnknownNameError):
        await probe("nothing/m", settings)


async def test_a_stand_in_answers_too() -> None:
    result = await probe("offline/rule-follower")
    assert result.failure is None
    assert result.findings["structured_output"].answer is False
