"""Rejection fine-tuning: sample, keep answers that the task's rule accepts, fine-tune on all kept ones, and repeat.

Of several answers to a prompt, the one that led to success soonest is kept. It uses only the grading rule, not the
solutions of the train data.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import chain

from games import rollouts_of
from pace import Pace
from policy import Policy, Turn
from rounds import Climb
from supervised import fit
from workspace import Workspace


def main() -> None:
    space = Workspace()
    space.leave_when_told()
    seed = space.setting("SEED", 0)
    policy = Policy(space.model, rank=space.setting("LORA_RANK", 16), seed=seed)
    space.log(f"{policy.size} parameters on {policy.device}, {space.remaining():.0f} s left")
    online = rollouts_of(space, policy, seed)
    problems, group = space.setting("PROBLEMS", 2 * online.problems if policy.small else 8), space.setting("GROUP", 4)
    temperature, accept = space.setting("TEMPERATURE", 1.0), space.setting("ACCEPT", 1.0)
    batch, sampling = space.setting("SFT_BATCH", 64 if policy.small else 8), space.setting("SAMPLING", 0.4)
    kept: dict[tuple[int, ...], tuple[int, str]] = {}

    def keep(turns: Sequence[Turn]) -> None:
        """Keep for each prompt the answer followed by the fewest turns."""
        for left, (prompt, answer) in enumerate(reversed(turns)):
            best = kept.get(tuple(prompt))
            if best is None or left < best[0]:
                kept[tuple(prompt)] = left, policy.text(answer)

    def train(until: float) -> None:
        began = time.monotonic()
        tried = accepted = 0
        pace = Pace(began + sampling * (until - began))
        while pace.goes_on():
            for episode in chain.from_iterable(online.play(problems, group, temperature)):
                tried += 1
                if episode.reward >= accept:
                    accepted += 1
                    keep(episode.turns)
        space.log(f"rejection: {accepted} of {tried} attempts accepted, {len(kept)} different turns kept so far")
        # From the text again: an accepted answer may hold special tokens that the rule did not see, or have no end.
        examples = [(list(prompt), policy.answer(text)) for prompt, (_, text) in kept.items()]
        if examples:
            fit(policy, examples, climb.optimizer, until, batch=batch, log=space.log)

    climb = Climb(space, policy, space.setting("SFT_RATE", 5e-4 if policy.small else 2e-4))
    climb.run(train, count=space.setting("ROUNDS", 4))
    space.log(f"best score: {climb.best}")


if __name__ == "__main__":
    main()
