from __future__ import annotations

import json
from typing import Any

import pytest

from heredity._core.errors import ProviderError
from heredity.library.models.world_learner import WorldLearner, dynamics, instructions, turns_of
from heredity.models import Request, Sampling

SELL = '{"action": "sell", "params": {"what": "amber"}}'
WAIT = '{"action": "wait", "params": {}}'
TRANSCRIPT = f"""[told] The market is open today.
Prices are high.
[said] {SELL}
[told] The market is shut now.
The last action paid 2.5.
[said] {SELL}
[told] The market is shut now.
[said] {WAIT}
[told] The market is shut now.
[said] {WAIT}
[told] The market is shut now."""
PROGRAM = "EXPLORE = 0.4\nTRIES = 6\nSWEEP = False\n"


def ask(task: str, seed: int = 0, **more: Any) -> Request:
    block = {"task": task, "evidence": [{"task": 0, "transcript": TRANSCRIPT, "score": 0.1}], **more}
    return Request.of(f"```json\n{json.dumps(block)}\n```", sampling=Sampling(seed=seed))


async def answer(*args: Any, **more: Any) -> Any:
    return json.loads((await WorldLearner().reply(ask(*args, **more))).text)


def test_a_transcript_is_read_into_steps_with_what_they_paid() -> None:
    turns = turns_of(TRANSCRIPT)
    assert [t.action for t in turns] == [SELL, SELL, WAIT, WAIT]
    assert [t.paid for t in turns] == [2.5, 0.0, 0.0, 0.0]
    assert [t.changed for t in turns] == [True, True, False, False]
    assert turns_of("nothing of the kind") == turns_of("") == []


def test_what_pays_is_preferred_and_known_by_its_words_and_what_changes_nothing_is_avoided() -> None:
    rules = dynamics(turns_of(TRANSCRIPT))
    assert "- Prefer sell" in rules
    assert f"- Prefer {SELL}" in rules
    assert any(rule.startswith('- When it says "The market is open') and rule.endswith(SELL) for rule in rules)
    assert not any("shut" in rule for rule in rules)
    assert instructions(turns_of(TRANSCRIPT)) == ["- Avoid wait", f"- Avoid {WAIT}"]


async def test_a_critique_gives_the_prompt_its_rules_which_are_then_taken_up() -> None:
    (gradient,) = (await answer("critique"))["gradients"]
    assert gradient["variable"] == "prompt/system:prompt.md"
    rules = gradient["text"].splitlines()
    assert "- Prefer sell" in rules
    variables = {gradient["variable"]: "Known:\n"}
    given = [{"variable": gradient["variable"], "texts": ["- Avoid wait"]}]
    (edit,) = (await answer("improve", variables=variables, gradients=given))["edits"]
    assert edit["value"] == "Known:\n- Avoid wait\n"
    assert (await answer("critique", evidence=[]))["gradients"] == []


async def test_a_signal_becomes_one_more_rule_of_the_prompt() -> None:
    signal = (await answer("dynamics"))["signal"]
    variables = {"prompt/system:prompt.md": "Known:\n"}
    for seed in range(5):
        (edit,) = (await answer("improve", seed, signal=signal, variables=variables))["edits"]
        lines = edit["value"].splitlines()
        assert lines[0] == "Known:"
        assert lines[1] in signal


async def test_a_program_s_constants_change_within_their_kind() -> None:
    seen: set[str] = set()
    for seed in range(40):
        (edit,) = (await answer("improve", seed, variables={"agent/player:agent.py": PROGRAM}))["edits"]
        made: dict[str, Any] = {}
        exec(edit["value"], made)
        seen |= {name for name, old in (("EXPLORE", 0.4), ("TRIES", 6), ("SWEEP", False)) if made[name] != old}
        assert (type(made["EXPLORE"]), type(made["TRIES"]), type(made["SWEEP"])) == (float, int, bool)
    assert seen == {"EXPLORE", "TRIES", "SWEEP"}


async def test_what_is_no_learner_s_request_is_refused() -> None:
    with pytest.raises(ProviderError, match="sing"):
        await answer("sing")
