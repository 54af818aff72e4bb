"""The gateway's configuration: the `[gateway]` section of a TOML file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, cast
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from heredity._core.bounds import Count, Parallel, Seconds
from heredity._core.ids import NAME_PATTERN, digest_json
from heredity._core.plugins import Group
from heredity._core.refusals import reading
from heredity.models.prices import FREE, Prices
from heredity.models.routing import Policy

Role = Literal["execution", "optimisation", "judge"]
ROLES: tuple[Role, ...] = ("execution", "optimisation", "judge")

MODELS = Group[Callable[[str, Any], Any]](
    "heredity.models", "kind of model", "a callable open_model(rest, settings) that returns a model", callable
)
"""Prefixes of model names that need no provider, such as `"scripted"`."""

TIMEOUT_S = 600.0
"""Default timeout of one call attempt, in seconds: a reasoning model takes minutes."""

STAND_INS = ("offline", "replay", "scripted")
"""Prefixes of the names of programs and recordings that stand in for a language model."""


def stand_in(name: str) -> bool:
    """Return whether a full model name is that of a program or recording standing in for a language model."""
    return name.partition("/")[0] in STAND_INS


Parameter = Literal["temperature", "top_p", "max_tokens", "seed", "stop", "format"]
"""Names of the sampling parameters."""


Api = Literal[
    "chat.completions",
    "responses",
    "messages",
    "generate_content",
    "embeddings",
    "embed_content",
    "batch_embed_contents",
]
"""APIs of language models that programs speak."""

_APIS: Mapping[str, tuple[Api, ...]] = MappingProxyType(
    {
        **dict.fromkeys(
            ("openai", "azure", "openrouter", "cerebras", "litellm", "vllm", "ollama"),
            ("chat.completions", "embeddings"),
        ),
        "anthropic": ("messages",),
        "google": ("generate_content", "embed_content", "batch_embed_contents"),
    }
)
"""Kind of provider to its APIs."""


class _Table(BaseModel):
    # TOML is typed, so "64" is a mistake and not a number.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def check_address(address: str) -> None:
    """Refuse anything but the address of an API.

    Raises:
        ValueError: says what to write instead, without repeating a key.
    """
    try:
        parts = urlsplit(address)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        whole = False
        parts = urlsplit("")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError(
            "the address holds a user, a password, a query or a fragment; leave it out, "
            "and name the environment variable that holds the key in api_key_env"
        )
    if not whole or address != address.strip():
        raise ValueError("expected an address that begins with http:// or https://, such as http://localhost:8000/v1")
    if method := next((end for end in _METHODS if parts.path.rstrip("/").endswith(end)), ""):
        raise ValueError(
            f"leave out {method}, which is added for each call: {address.rstrip('/').removesuffix(method)}"
        )


_METHODS = ("/chat/completions", "/completions", "/responses", "/v1/messages", "/messages", "/embeddings")


class ProviderSettings(_Table):
    """A provider: its address and its interface.

    Attributes:
        kind: `openai` (chat completions, of OpenAI and of any compatible server), `anthropic`, `google`, `azure`,
            `bedrock`, `google-cloud`, `litellm`, or another that pydantic-ai knows (`mistral`, `openrouter`, …).
        base_url: the address; empty for the kind's default.
        api_key_env: the environment variable that holds the key; empty if the server needs none. The key itself is
            never configured, recorded or shown. Without one, Bedrock and Google Cloud use the account of this machine.
        timeout_s: seconds for one attempt, to the end of its stream; `gateway.timeout_s` by default.
        prices: prices by model, `"*"` for all others; they take precedence over those of `genai-prices`.
        extra_body: fields added to every request, for servers with extra options.
        omit: parameters never sent to it, such as `["seed"]`; `"format"` is the JSON schema of an answer. One that a model
            refuses by name is left out without being listed here, and the reply says so. Seeds are sent with 31 bits.
        apis: the APIs in which it takes a program's requests unchanged (`"chat.completions"`, `"responses"`,
            `"embeddings"`, `"messages"`, `"generate_content"`, `"embed_content"`, `"batch_embed_contents"`); by default
            those of its kind. `"responses"` is the default only for OpenAI itself: few compatible servers have it.
    """

    kind: str = "openai"
    base_url: str = ""
    api_key_env: str = ""
    timeout_s: Seconds | None = None
    prices: dict[str, Prices] = Field(default_factory=dict[str, Prices])
    extra_body: dict[str, Any] = Field(default_factory=dict[str, Any])
    omit: tuple[Parameter, ...] = ()
    apis: tuple[Api, ...] | None = None

    @field_validator("omit", "apis", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return tuple(cast("list[Any]", value)) if isinstance(value, list) else value

    @field_validator("base_url")
    @classmethod
    def _address(cls, value: str) -> str:
        if value:
            check_address(value)
        return value

    def takes(self) -> frozenset[str]:
        """Return the APIs in which it takes a program's requests unchanged."""
        if self.apis is not None:
            return frozenset(self.apis)
        if self.kind == "openai" and urlsplit(self.base_url).hostname == "api.openai.com":
            return frozenset(("chat.completions", "responses", "embeddings"))
        return frozenset(_APIS.get(self.kind, ()))

    def prices_of(self, model: str) -> Prices | None:
        """Return the configured prices of a model, if there are any."""
        return self.prices.get(model, self.prices.get("*"))

    @property
    def identity(self) -> str:
        """Distinguishes providers whose models may answer differently under the same name."""
        included = {"kind", "base_url", "extra_body", *(name for name in ("omit", "apis") if getattr(self, name))}
        return digest_json(self.model_dump(include=included, mode="json"))


class Client(NamedTuple):
    """The package for a kind of provider.

    Attributes:
        module: the module imported from it.
        extra: Heredity's extra that installs it; empty if none does.
        own: pydantic-ai's extra that installs it, where none of Heredity's does.
    """

    module: str
    extra: str = "llm"
    own: str = ""

    @property
    def install(self) -> str:
        """Argument of `pip install`."""
        return f"'heredity[{self.extra}]'" if self.extra else f"'pydantic-ai-slim[{self.own}]'"


CLIENTS: Mapping[str, Client] = MappingProxyType(
    {
        **dict.fromkeys(("openai", "azure", "litellm", "ollama", "openrouter", "vllm", "cerebras"), Client("openai")),
        "anthropic": Client("anthropic"),
        **dict.fromkeys(("google", "google-cloud"), Client("google.genai")),
        "mistral": Client("mistralai", "mistral"),
        "bedrock": Client("boto3", "bedrock"),
        "groq": Client("groq", "", "groq"),
        "cohere": Client("cohere", "", "cohere"),
        "huggingface": Client("huggingface_hub", "", "huggingface"),
        "xai": Client("xai_sdk", "", "xai"),
    }
)
"""Kind of provider to its package."""


def _local(port: int) -> ProviderSettings:
    return ProviderSettings(base_url=f"http://127.0.0.1:{port}/v1", prices={"*": FREE})


WELL_KNOWN: Mapping[str, ProviderSettings] = MappingProxyType(
    {
        "openai": ProviderSettings(base_url="https://api.openai.com/v1", api_key_env="OPENAI_API_KEY"),
        "anthropic": ProviderSettings(
            kind="anthropic", base_url="https://api.anthropic.com", api_key_env="ANTHROPIC_API_KEY"
        ),
        "google": ProviderSettings(kind="google", api_key_env="GOOGLE_API_KEY"),
        "xai": ProviderSettings(base_url="https://api.x.ai/v1", api_key_env="XAI_API_KEY"),
        "mistral": ProviderSettings(kind="mistral", api_key_env="MISTRAL_API_KEY"),
        "groq": ProviderSettings(base_url="https://api.groq.com/openai/v1", api_key_env="GROQ_API_KEY"),
        "deepseek": ProviderSettings(base_url="https://api.deepseek.com", api_key_env="DEEPSEEK_API_KEY"),
        "openrouter": ProviderSettings(kind="openrouter", api_key_env="OPENROUTER_API_KEY"),
        "azure": ProviderSettings(kind="azure", api_key_env="AZURE_OPENAI_API_KEY"),
        "bedrock": ProviderSettings(kind="bedrock"),
        "vertex": ProviderSettings(kind="google-cloud"),
        "litellm": ProviderSettings(kind="litellm", base_url="http://127.0.0.1:4000", api_key_env="LITELLM_API_KEY"),
        "ollama": _local(11434),
        "vllm": _local(8000),
        "lmstudio": _local(1234),
        "llamacpp": _local(8080),
    }
)
"""Providers that need no configuration but a key or an account. Models of local servers cost nothing."""


class RouteSettings(_Table):
    """Several models under one name.

    Attributes:
        models: the models, called one after the other until one answers.
        policy: their order: `fallback`, as listed, or `cheapest` first.
    """

    models: Annotated[list[str], Field(min_length=1)]
    policy: Policy = "fallback"


class GatewaySettings(_Table):
    """Models by role, providers, cache and limits.

    Attributes:
        execution: the model or route that attempts tasks; empty for none.
        optimisation: the model that methods use to reflect and propose.
        judge: the model that grades.
        providers: providers by name. A table named like a well-known provider keeps its values for missing keys, if it is
            of the same kind.
        routes: several models under one name.
        cache: false; true for `heredity/replies.sqlite` in the user's cache folder; or the path of a file.
        cache_sampled: also cache answers sampled without a seed: for development, not for experiments.
        attempts: maximum attempts per call, 1 for no retries. Eight attempts wait about half a minute in all. A timeout is
            retried once, an unusable answer a few times; an unreachable model gets one attempt per later call until it
            answers.
        concurrent: maximum simultaneous calls of one model.
        timeout_s: timeout of one call attempt, in seconds, and the longest wait that a provider may ask for.
        max_tokens: token budget of all models together; no limit by default.
        max_cost_usd: budget of all models together in US dollars; no limit by default.
        max_calls: provider calls of all models together; no limit by default.
    """

    execution: str = ""
    optimisation: str = ""
    judge: str = ""
    providers: dict[str, ProviderSettings] = Field(default_factory=dict[str, ProviderSettings])
    routes: dict[str, RouteSettings] = Field(default_factory=dict[str, RouteSettings])
    cache: bool | str = False
    cache_sampled: bool = False
    attempts: Count = 8
    concurrent: Parallel = 8
    timeout_s: Seconds = TIMEOUT_S
    max_tokens: Annotated[int, Field(ge=0, le=10**12)] | None = None
    max_cost_usd: Annotated[float, Field(ge=0, le=10**9)] | None = None
    max_calls: Annotated[int, Field(ge=0, le=10**9)] | None = None

    def conditions(self) -> dict[str, Any]:
        """Return the settings that affect answers: the models that attempt and judge, and their providers."""
        return {
            "execution": self.execution,
            "judge": self.judge,
            "providers": {name: provider.identity for name, provider in self.providers.items()},
            "routes": {name: route.model_dump() for name, route in self.routes.items()},
        }

    def provider(self, model: str) -> ProviderSettings | None:
        """Return the provider of a model by its full name, with the timeout filled in; None if it has none."""
        first = model.partition("/")[0]
        provider = self.providers.get(first) or WELL_KNOWN.get(first)
        if provider is None or provider.timeout_s is not None:
            return provider
        return provider.model_copy(update={"timeout_s": self.timeout_s})

    @field_validator("providers", mode="before")
    @classmethod
    def _completed(cls, value: Any) -> Any:
        """Fill in the missing keys of a well-known provider's table."""
        if not isinstance(value, Mapping):
            return value
        tables = cast("Mapping[str, Any]", value)
        return {name: _complete(name, table) for name, table in tables.items()}

    @field_validator("providers", "routes")
    @classmethod
    def _check_names(cls, value: dict[str, Any]) -> dict[str, Any]:
        for name in value:
            if not NAME_PATTERN.fullmatch(name) or name in MODELS or name in ROLES:
                taken = ", ".join((*MODELS.names(), *ROLES))
                raise ValueError(f"{name!r} cannot be a name here; use letters, digits, . _ -, and none of {taken}")
        return value

    @classmethod
    def of(cls, data: object, source: str = "[gateway]") -> GatewaySettings:
        """Check a configuration given as a mapping; anything else is refused.

        Raises:
            ConfigError: if a key or value is wrong; names the field, the value and the nearest known key.
        """
        with reading(source, "settings", "correct it", model=cls):
            return cls.model_validate(dict(cast("Mapping[str, Any]", data)) if isinstance(data, Mapping) else data)


def _complete(name: str, table: Any) -> Any:
    builtin = WELL_KNOWN.get(name)
    if builtin is None or not isinstance(table, Mapping):
        return table
    given = cast("Mapping[str, Any]", table)
    return (
        {**builtin.model_dump(exclude_unset=True), **given}
        if given.get("kind", builtin.kind) == builtin.kind
        else given
    )
