"""Every provider that the documentation names opens with its one line, and speaks where its interface is OpenAI's."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="needs the extra llm")

from heredity._core.errors import ConfigError, MissingExtraError
from heredity.models import Reply, Request, Sampling, streamed
from heredity.models.gateway import provider_model, resolve
from heredity.models.settings import CLIENTS, WELL_KNOWN, GatewaySettings, ProviderSettings

from .endpoint import Answer, Endpoint, chunks, completion, endpoint

KEY = "sk-very-secret-0123456789"
ASK = Request.of("hi", sampling=Sampling(temperature=0, max_tokens=9))
ALIKE = [
    "openai",
    "xai",
    "groq",
    "deepseek",
    "openrouter",
    "azure",
    "litellm",
    "ollama",
    "vllm",
    "lmstudio",
    "llamacpp",
]
"""Providers whose interface is OpenAI's."""


@pytest.fixture
async def server() -> AsyncGenerator[Endpoint]:
    async with endpoint() as played:
        yield played


@pytest.fixture(autouse=True)
def nothing_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_PROFILE",
                 "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    for provider in WELL_KNOWN.values():
        if provider.api_key_env:
            monkeypatch.setenv(provider.api_key_env, KEY)


def at(name: str, server: Endpoint) -> ProviderSettings:
    """A well-known provider whose table names this server's address and nothing else."""
    given = {"providers": {name: {"base_url": server.url.removesuffix("/v1") if name == "azure" else server.url}}}
    settings = GatewaySettings.of(given).provider(f"{name}/vendor/m")
    assert settings is not None
    return settings


@pytest.mark.parametrize("name", ALIKE)
async def test_a_provider_like_openai_answers_whole_and_streamed_at_a_configured_address(
    name: str, server: Endpoint
) -> None:
    server.play(Answer(completion("hello")), Answer(events=chunks({"content": "hel"}, {"content": "lo"})))
    model = provider_model(f"{name}/vendor/m", at(name, server))
    assert (await model.reply(ASK)).text == "hello"
    last: Reply | None = None
    async for delta in streamed(model, ASK):
        last = delta.reply
    await model.close()
    assert last is not None
    assert last.text == "hello"
    path = "/openai/v1/chat/completions" if name == "azure" else "/v1/chat/completions"
    assert [(asked.path, asked.body["model"]) for asked in server.asked] == [(path, "vendor/m")] * 2
    sent = {asked.headers.get("authorization") for asked in server.asked}
    assert (sent == {f"Bearer {KEY}"}) == bool(WELL_KNOWN[name].api_key_env)


@pytest.mark.parametrize("kind", ["azure", "litellm", "openrouter", "deepseek", "vllm", "ollama", "together"])
async def test_a_kind_opens_at_the_address_of_its_table(kind: str, server: Endpoint) -> None:
    server.play(Answer(completion("hello")))
    settings = ProviderSettings(kind=kind, base_url=server.url, api_key_env="OPENAI_API_KEY")
    model = provider_model("lab/vendor/m", settings)
    assert (await model.reply(ASK)).text == "hello"
    await model.close()
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("name", ["anthropic", "google", "mistral"])
def test_a_provider_with_an_interface_of_its_own_opens(name: str) -> None:
    pytest.importorskip(CLIENTS[WELL_KNOWN[name].kind].module)
    assert resolve(f"{name}/some-model").name == f"{name}/some-model"


@pytest.mark.parametrize("name", [name for name in WELL_KNOWN if WELL_KNOWN[name].api_key_env])
def test_a_missing_key_names_its_variable(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(WELL_KNOWN[name].api_key_env)
    with pytest.raises(ConfigError, match=WELL_KNOWN[name].api_key_env):
        resolve(f"{name}/some-model")


@pytest.mark.parametrize(("name", "module"), [("mistral", "mistralai"), ("bedrock", "boto3")])
def test_a_missing_client_names_the_extra(name: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in ("providers", "models"):
        monkeypatch.delitem(sys.modules, f"pydantic_ai.{part}.{name}", raising=False)
    for missing in (module, f"{module}.client"):
        monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtraError, match=rf"heredity\[{name}\]"):
        resolve(f"{name}/some-model")


def test_azure_without_an_address_says_which_key_to_set() -> None:
    with pytest.raises(ConfigError, match=r"gateway\.providers\.azure\.base_url"):
        resolve("azure/gpt-5")


@pytest.mark.parametrize("given", ["https://r.openai.azure.com", "https://r.openai.azure.com/openai/v1/"])
def test_azure_is_asked_at_its_version_1(given: str) -> None:
    settings = GatewaySettings.of({"providers": {"azure": {"base_url": given}}})
    model: Any = resolve("azure/gpt-5", settings)
    assert str(model._model.base_url) == "https://r.openai.azure.com/openai/v1/"


def test_bedrock_names_the_variables_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("boto3", reason="needs the extra bedrock")
    with pytest.raises(ConfigError, match="AWS_REGION"):
        resolve("bedrock/anthropic.claude-sonnet")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    with pytest.raises(ConfigError, match="AWS_BEARER_TOKEN_BEDROCK"):
        resolve("bedrock/anthropic.claude-sonnet")


@pytest.mark.parametrize("variable", ["AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID"])
def test_bedrock_opens_with_a_key_or_an_account(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("boto3", reason="needs the extra bedrock")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv(variable, KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
    model: Any = resolve("bedrock/anthropic.claude-sonnet", GatewaySettings(timeout_s=700.0))
    config = model._model.client.meta.config
    assert (config.region_name, config.read_timeout) == ("eu-west-1", 700.0)
    assert config.retries["total_max_attempts"] == 1


def test_google_cloud_names_what_is_missing_and_opens_with_an_account(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("google.genai", reason="needs google-genai")
    with pytest.raises(ConfigError, match="gcloud auth application-default login"):
        resolve("vertex/gemini-2.5-pro")
    account = {"type": "authorized_user", "client_id": "i", "client_secret": "s", "refresh_token": "r"}
    (tmp_path / "account.json").write_text(json.dumps(account))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "account.json"))
    with pytest.raises(ConfigError, match="GOOGLE_CLOUD_PROJECT"):
        resolve("vertex/gemini-2.5-pro")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "lab")
    model: Any = resolve("vertex/gemini-2.5-pro")
    assert "aiplatform.googleapis.com" in str(model._model.base_url)


def test_a_kind_that_takes_no_further_fields_refuses_them() -> None:
    pytest.importorskip("google.genai", reason="needs google-genai")
    with pytest.raises(ConfigError, match="extra_body"):
        resolve("google/gemini", GatewaySettings.of({"providers": {"google": {"extra_body": {"x": 1}}}}))
