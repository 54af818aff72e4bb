"""Structured output: optimizers and planners enforce the form of a reply where the provider can, and lose nothing elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema_rs
import pytest
from benchmarks.counting_server import Failing, counting

from heredity._core.errors import ProviderError
from heredity.methods.map_elites import object_of
from heredity.methods.operators.dialogue import FORMS, Dialogue, Failed
from heredity.models import Request
from heredity.models.gateway import ProviderModel, provider_model
from heredity.models.replies import format_of
from heredity.models.settings import ProviderSettings

pytest.importorskip("pydantic_ai")

READ: Callable[[Any], Any] = dict
FORM = {"why": "one line", "share": 0.5, "sure": True, "count": 1, "text": "<text 1>"}


@pytest.mark.parametrize("task", FORMS)
def test_the_example_of_every_form_fits_its_own_schema(task: str) -> None:
    asked = format_of(FORMS[task].reply)
    jsonschema_rs.validator_for(asked["schema"]).validate(dict(FORMS[task].reply))


def test_a_schema_requires_every_name_and_lets_a_long_text_be_null() -> None:
    validator = jsonschema_rs.validator_for(format_of(FORM)["schema"])
    validator.validate({**FORM, "text": None})
    assert not validator.is_valid({**FORM, "why": None})
    assert not validator.is_valid({name: value for name, value in FORM.items() if name != "sure"})
    assert not validator.is_valid({**FORM, "more": 1})


def test_items_of_several_shapes_are_told_apart_by_their_common_text() -> None:
    validator = jsonschema_rs.validator_for(format_of(FORMS["compare"].reply)["schema"])
    assert validator.is_valid({"operations": [{"do": "delete", "id": "e1"}], "why": ""})
    assert not validator.is_valid({"operations": [{"do": "add", "id": "e1"}], "why": ""})
    assert not validator.is_valid({"operations": [{"do": "drop", "id": "e1"}], "why": ""})


def model_at(url: str) -> ProviderModel:
    return provider_model("lab/m", ProviderSettings(base_url=url))


def enforcing(sloppy: str, wanted: Any) -> Callable[[dict[str, Any]], str]:
    """Answer in the words of a careless model, unless the request has a schema."""
    return lambda asked: json.dumps(wanted) if "response_format" in asked else sloppy


async def ask(model: Any, task: str, objects: Any = None) -> tuple[Any, list[str]]:
    notes: list[str] = []

    class Watched:
        name, models = model.name, (model,)

        async def reply(self, request: Request) -> Any:
            return await model.reply(request)

        async def unused(self, request: Request, why: str) -> None:
            notes.append(why)

    dialogue = Dialogue(Watched(), 7, "reflection", objects=objects)
    return await dialogue.ask(task, {"items": []}, READ, (0,)), notes


REFLECTED = {"hypotheses": [{"cause": "c", "variables": ["prompt/a:p"], "tasks": [0]}]}


async def test_a_model_that_keeps_to_schemas_alone_is_understood_at_once() -> None:
    with counting(enforcing("I think that it fails because of the prompt.", REFLECTED)) as counted:
        assert await ask(model_at(counted.url), "reflect") == (REFLECTED, [])
    assert len(counted.bodies) == 1


async def test_a_server_that_mangles_what_a_schema_binds_is_asked_again_without() -> None:
    with counting(lambda asked: "{}" if "response_format" in asked else json.dumps(REFLECTED)) as counted:
        answer, notes = await ask(model_at(counted.url), "reflect")
    assert (answer, len(notes)) == (REFLECTED, 1)
    assert ["response_format" in body for body in counted.bodies] == [True, False]


async def test_long_texts_stand_beside_the_object_first_and_inside_of_it_at_the_second_attempt() -> None:
    wanted = {"edits": [], "program": "def solve():\n    return 4\n", "why": "w"}
    with counting(enforcing("Use four.", wanted)) as counted:
        answer, notes = await ask(model_at(counted.url), "evolve", object_of)
    assert (answer, len(notes)) == (wanted, 1)
    first, second = counted.bodies
    assert ["response_format" in body for body in (first, second)] == [False, True]
    assert "inside the object" in second["messages"][-1]["content"]
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "user"]


@pytest.mark.parametrize(
    "refusal",
    [
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        "This response_format type is unavailable now",
        "json_validate_failed: Failed to generate JSON. Please adjust your prompt.",
        "Extra inputs are not permitted: output_config.format",
        "Invalid JSON payload received. Unknown name 'responseJsonSchema' at 'generation_config'",
        "No endpoints found that can handle the requested parameters.",
    ],
)
async def test_a_provider_that_refuses_the_format_gets_the_request_without_and_is_not_asked_for_it_again(
    refusal: str,
) -> None:
    def answer(asked: dict[str, Any]) -> str | Failing:
        return Failing(400, refusal) if "response_format" in asked else json.dumps(REFLECTED)

    with counting(answer) as counted:
        model = model_at(counted.url)
        for _ in range(2):
            assert await ask(model, "reflect") == (REFLECTED, [])
        reply = await model.reply(Request.of("x", options={"format": format_of(REFLECTED)}))
    assert ["response_format" in body for body in counted.bodies] == [True, False, False, False]
    assert reply.ignored == ("format",)


async def test_another_refusal_is_no_reason_to_do_without_the_format() -> None:
    with counting(lambda asked: Failing(400, "there is no such project")) as counted:
        answer, _ = await ask(model_at(counted.url), "reflect")
    assert isinstance(answer, Failed)
    assert len(counted.bodies) == 1


async def test_a_format_that_a_program_asked_for_is_refused_and_not_dropped() -> None:
    asked = {**format_of(REFLECTED), "optional": False}
    refusing = counting(lambda asked: Failing(400, "response_format is not supported"))
    with refusing as counted, pytest.raises(ProviderError, match="response_format"):
        await model_at(counted.url).reply(Request.of("x", options={"format": asked}))
    assert len(counted.bodies) == 1


def test_a_format_that_a_configuration_omits_is_not_taken() -> None:
    settings = ProviderSettings(base_url="http://127.0.0.1:9/v1", omit=("format",))
    assert "format" in model_at("http://127.0.0.1:9/v1").options
    assert "format" not in provider_model("lab/m", settings).options
