"""What becomes of a request's fields where the model has another API: translated, dropped and named, or refused by name.

A field that nothing reads is never lost without a word. Fields that cannot change what an answer says (accounts, caching,
ids) and hints (effort, verbosity) are dropped, and named in the header `heredity-dropped`. All others are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pydantic import BaseModel

from heredity.models import Model
from heredity.models.broker.problems import Problem
from heredity.models.contract import ignored_by, options_of

if TYPE_CHECKING:
    from heredity.models.broker.conversation import Exchange

HEADER = "heredity-dropped"
_SHOWN = 30
"""Upper limit on the fields that the header names."""

_ACCOUNTS = (
    "user metadata service_tier serviceTier safety_identifier store labels client_metadata inference_geo moderation"
)
_CACHING = "cache_control prompt_cache_key prompt_cache_retention prompt_cache_options cachedContent"
_HINTS = (
    "thinking reasoning_effort effort verbosity context_management prediction include truncation stream_options speed "
    "detail mediaResolution media_resolution thinkingBudget thinkingLevel thinking_budget thinking_level summary "
    "generate_summary include_obfuscation max_tool_calls safetySettings safety_settings budget_tokens display "
    "parallel_tool_calls disable_parallel_tool_use task_budget mode context"
)
_EARLIER_ANSWERS = (
    "id status name annotations citations logprobs phase reasoning_content reasoning_details signature caller title "
    "thoughtSignature thought_signature created_by model stop_reason stop_sequence usage audio_id provider_specific_fields"
)
_TOOLS = (
    "strict eager_input_streaming allowed_callers input_examples response responseJsonSchema output_schema behavior"
)
_DROPPED = frozenset(" ".join((_ACCOUNTS, _CACHING, _HINTS, _EARLIER_ANSWERS, _TOOLS)).split())
"""Last parts of the paths of fields that are dropped."""

_IMPLIED = ("type", "role", "object")
"""Fields that say again what their place says."""

_HINTED = ("thinking", "parallel_tool_calls")
"""Options that are dropped where a model does not take them; all others are refused."""


class Wish(NamedTuple):
    """An option that a program asks for (`Request.options`), and the field it stands in."""

    option: str
    value: Any
    field: str


def unread(part: BaseModel, path: str = "") -> Iterator[tuple[str, str]]:
    """Give the paths of fields that nothing reads, each with its last name, which is empty for a part set aside.

    Empty values do not count, and neither do fields that say again what their place says.
    """
    if getattr(part, "set_aside", False):
        yield path, ""
        return
    prefix = f"{path}." if path else ""
    yield from (
        (prefix + name, name) for name, value in (part.model_extra or {}).items() if value and name not in _IMPLIED
    )
    for name in type(part).model_fields:
        spelled = type(part).model_fields[name].alias or name
        yield from _unread_in(getattr(part, name), prefix + spelled)


def _unread_in(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, BaseModel):
        yield from unread(value, path)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(cast("Sequence[Any]", value)):
            yield from _unread_in(item, f"{path}[{index}]")


def dropped_of(body: BaseModel) -> list[str]:
    """Return the paths of the fields that are dropped from a body.

    Raises:
        Problem: if another field is read by nothing.
    """
    dropped: list[str] = []
    for path, name in unread(body):
        if name and name not in _DROPPED:
            message = f"{path[:200]} cannot be carried to a model of another API; leave it out"
            raise Problem("request", message, field=path)
        dropped.append(path)
    return dropped


def fit(exchange: Exchange, model: Model) -> None:
    """Give the options that a model takes to the exchange's request, and name what it does not take.

    Raises:
        Problem: if the model cannot take an option that changes the answer.
    """
    if exchange.request.original is not None:
        return
    taken = options_of(model)
    for wish in exchange.wishes:
        if wish.option not in taken and wish.option not in _HINTED:
            message = f"{wish.field} cannot be carried to this model; leave it out, or describe it in the prompt"
            raise Problem("request", message, field=wish.field)
    # A model that cannot think does not think.
    lost = [w for w in exchange.wishes if w.option not in taken and (w.option, w.value) != ("thinking", False)]
    exchange.dropped += [wish.field for wish in lost]
    exchange.dropped += [name for name in exchange.request.sampling.to_json() if name in ignored_by(model)]
    options = {wish.option: wish.value for wish in exchange.wishes if wish.option in taken}
    if options:
        exchange.request = replace(exchange.request, options=options)


def header(dropped: Sequence[str]) -> dict[str, str]:
    """Return the header that names dropped fields; none if there are none."""
    if not dropped:
        return {}
    more = [f"and {len(dropped) - _SHOWN} more"] if len(dropped) > _SHOWN else []
    return {HEADER: ", ".join([*dropped[:_SHOWN], *more])}


def thinking(effort: str | None, field: str) -> list[Wish]:
    """Return the wish for an effort in OpenAI's or Anthropic's words; `"none"` switches thinking off."""
    return [Wish("thinking", effort if effort != "none" else False, field)] if effort else []
