"""Events: each kind is named once, and its data is read as what was written."""

from __future__ import annotations

from importlib import import_module

import pytest
from pydantic import TypeAdapter, ValidationError

from heredity.records import Event
from heredity.records.events import CANDIDATE, EVENTS, HEARTBEAT, RUN_STARTED, SESSION_CLOSED

DECLARING = ("heredity.protocols.harness_evolution.terms", "heredity.protocols.post_training.events")


def test_no_protocol_declares_an_event_that_another_one_has_but_for_fields_of_the_start() -> None:
    names = [
        *EVENTS,
        *(name for module in DECLARING for name in import_module(module).EVENTS if name != RUN_STARTED.name),
    ]
    assert len(names) == len(set(names))


def test_an_event_gives_its_data_to_its_own_kind_alone_in_both_forms() -> None:
    event = Event(0, 1.0, *HEARTBEAT.line({"clock_s": 2.0}))
    for form in (event, event.to_json()):
        assert HEARTBEAT.of(form) == {"clock_s": 2.0}
        assert SESSION_CLOSED.of(form) is None
    assert HEARTBEAT.first([event, event]) == {"clock_s": 2.0}
    assert list(CANDIDATE.all([event])) == []


def test_the_declared_type_refuses_what_lacks_a_key() -> None:
    TypeAdapter(CANDIDATE.data).validate_python({"digest": "d", "blob": "b", "parents": [], "note": ""})
    with pytest.raises(ValidationError, match="blob"):
        TypeAdapter(CANDIDATE.data).validate_python({"digest": "d", "parents": [], "note": ""})
