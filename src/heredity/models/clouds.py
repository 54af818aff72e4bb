"""Opens models of clouds and of the further kinds of providers that pydantic-ai knows."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.models.settings import CLIENTS, TIMEOUT_S, ProviderSettings

if TYPE_CHECKING:
    from pydantic_ai.models import Model as TheirModel

_NO_KEY = "none"
"""Sent in place of a key that is not configured, so that clients do not take one from the environment."""


def azure_address(name: str, settings: ProviderSettings) -> str:
    """Return the address of the OpenAI-compatible API of an Azure resource.

    Raises:
        ConfigError: if no address is configured; each resource has its own.
    """
    if not settings.base_url:
        raise ConfigError(
            f"every Azure resource has its own address; set gateway.providers.{name.partition('/')[0]}.base_url, "
            'such as "https://RESOURCE.openai.azure.com"'
        )
    address = settings.base_url.rstrip("/")
    return address if address.endswith("/v1") else f"{address.removesuffix('/openai')}/openai/v1"


def open_bedrock(model: str, provider: str, settings: ProviderSettings, key: str) -> TheirModel:
    """Open a model of Amazon Bedrock, with a bearer key or the AWS account of this machine.

    Raises:
        ConfigError: if neither a region nor credentials are found; names the variables.
    """
    from boto3 import Session  # pyright: ignore[reportMissingImports]
    from botocore.config import Config  # pyright: ignore[reportMissingImports]
    from botocore.exceptions import BotoCoreError  # pyright: ignore[reportMissingImports]
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    timeout_s = settings.timeout_s or TIMEOUT_S
    own = key or os.environ.get("AWS_BEARER_TOKEN_BEDROCK", "")
    # The client's own retries are off because ours would multiply with them.
    limits: dict[str, Any] = {"read_timeout": timeout_s, "retries": {"total_max_attempts": 1}}
    try:
        # boto3 itself reads AWS_DEFAULT_REGION and profiles, the other SDKs AWS_REGION.
        region = os.environ.get("AWS_REGION") or None
        session: Any = Session(botocore_session=_with_bearer(own) if own else None, region_name=region)
        if not session.region_name:
            raise ConfigError(f"{provider}/{model} needs the region of Bedrock: set AWS_REGION, such as us-east-1")
        if not own and session.get_credentials() is None:
            raise ConfigError(
                f"{provider}/{model} needs an AWS account: set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY, or log in with the aws command"
            )
        config = Config(**limits, **({"signature_version": "bearer"} if own else {}))
        client: Any = session.client("bedrock-runtime", endpoint_url=settings.base_url or None, config=config)
    except BotoCoreError as error:
        raise ConfigError(f"{provider}/{model} cannot be opened: {error}") from error
    return BedrockConverseModel(model, provider=BedrockProvider(bedrock_client=client))


def _with_bearer(key: str) -> Any:
    from botocore.session import Session  # pyright: ignore[reportMissingImports]
    from botocore.tokens import FrozenAuthToken  # pyright: ignore[reportMissingImports]

    class Bearer(Session):  # pyright: ignore[reportUntypedBaseClass]
        def get_auth_token(self, **_: Any) -> Any:
            return FrozenAuthToken(key)

        def get_credentials(self) -> None:
            return None

    return Bearer()


def open_google_cloud(model: str, provider: str, settings: ProviderSettings, key: str) -> TheirModel:
    """Open a Gemini model of Google Cloud (Vertex AI), with an express key or the Google account of this machine.

    Raises:
        ConfigError: if there are no credentials or no project; names the variables.
    """
    import google.auth
    from google.auth.exceptions import GoogleAuthError
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google_cloud import GoogleCloudProvider

    address = settings.base_url or None
    if key:
        return GoogleModel(model, provider=GoogleCloudProvider(api_key=key, base_url=address))
    try:
        credentials, project = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
    except GoogleAuthError as error:
        raise ConfigError(
            f"{provider}/{model} needs a Google Cloud account: run gcloud auth application-default login, or set "
            f"GOOGLE_APPLICATION_CREDENTIALS to the file of a service account ({' '.join(str(error).split())[:200]})"
        ) from error
    project = os.environ.get("GOOGLE_CLOUD_PROJECT") or project
    if not project:
        raise ConfigError(f"{provider}/{model} needs a Google Cloud project: set GOOGLE_CLOUD_PROJECT")
    location = os.environ.get("GOOGLE_CLOUD_LOCATION") or "global"
    endpoint = GoogleCloudProvider(credentials=credentials, project=project, location=location, base_url=address)
    return GoogleModel(model, provider=endpoint)


def open_other(model: str, provider: str, settings: ProviderSettings, key: str) -> TheirModel:
    """Open a model of any other kind of provider that pydantic-ai knows.

    Raises:
        UnknownNameError: if the kind is unknown; suggests the nearest.
        ConfigError: if it cannot be opened as configured.
    """
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model
    from pydantic_ai.providers import infer_provider_class

    try:
        made: Any = infer_provider_class(settings.kind)
    except ValueError as error:
        raise UnknownNameError("kind of provider", settings.kind, CLIENTS) from error
    made, given = _at_address(made, provider, settings)
    opening = _open_router if settings.kind == "openrouter" else infer_model
    if "api_key" in inspect.signature(made.__init__).parameters:
        given["api_key"] = key or _NO_KEY
    try:
        endpoint = made(**given)
        return opening(f"{settings.kind}:{model}", provider_factory=lambda _: endpoint)
    except (TypeError, UserError) as error:
        raise ConfigError(f"the provider {provider!r} of kind {settings.kind!r} cannot be opened: {error}") from error


def _open_router(name: str, provider_factory: Callable[[str], Any]) -> TheirModel:
    from pydantic_ai.models.openrouter import OpenRouterModel

    class Router(OpenRouterModel):
        def _validate_completion(self, response: Any) -> Any:
            # Pydantic-ai insists on the name of the upstream provider, which nothing here needs.
            if getattr(response, "provider", None) is None:
                response.provider = "unknown"
            return super()._validate_completion(response)

    return Router(name.partition(":")[2], provider=provider_factory(name))


def _at_address(made: Any, provider: str, settings: ProviderSettings) -> tuple[Any, dict[str, Any]]:
    """Return a class of providers and its arguments such that requests go to the configured address."""
    address, takes = settings.base_url, inspect.signature(made.__init__).parameters
    if not address:
        return made, {}
    if name := next((name for name in ("base_url", "api_base") if name in takes), ""):
        return made, {name: address}
    if "api_host" in takes:
        return made, {"api_host": urlsplit(address).netloc}
    if "openai_client" in takes:
        # Its address is fixed by a property, from which it makes its client.
        return type(made.__name__, (made,), {"base_url": property(lambda _: address)}), {}
    raise ConfigError(
        f"providers of the kind {settings.kind!r} have one fixed address; leave out gateway.providers.{provider}.base_url"
    )
