"""Rejection fine-tuning: sample, keep what the task's rule accepts, fine-tune on all that was kept, and again.

Of games that were won, the shortest are kept. The solutions of the train data are not looked at; only the rule of grading is.
"""

from __future__ import annotations

import time

from games import rollouts_of
from policy import Policy, Turn
from rounds import Climb
from supervised import fit
from workspace import Workspace


def main() -> None:
    space = Workspace()
    seed = space.setting("SEED", 0)
    policy = Policy(space.model, rank=space.setting("LORA_RANK", 16), seed=seed)
    space.log(f"{policy.size} parameters on {policy.device}, {space.remaining():.0f} s left")
    longest = max(len(policy.answer(row["completion"])) for row in space.rows())
    online = rollouts_of(space, policy, space.setting("MAX_TOKENS", longest), seed)
    problems, group = space.setting("PROBLEMS", 2 * online.problems if policy.small else 8), space.setting("GROUP", 4)
    temperature, accept = space.setting("TEMPERATURE", 1.0), space.setting("ACCEPT", 1.0)
    batch, sampling = space.setting("SFT_BATCH", 64 if policy.small else 8), space.setting("SAMPLING", 0.4)
    kept: set[tuple[tuple[int, ...], str]] = set()

    def train(until: float) -> None:
        began = time.monotonic()
        tried = accepted = 0
        while time.monotonic() < began + sampling * (until - began):
            for episodes in online.play(problems, group, temperature):
                good = [episode.turns for episode in episodes if episode.reward >= accept]
                tried, accepted = tried + len(episodes), accepted + len(good)
                shortest = min(map(len, good), default=0)
                best = [turn for turns in good if len(turns) == shortest for turn in turns]
                kept.update((tuple(prompt), policy.text(answer)) for prompt, answer in best)
        space.log(f"rejection: {accepted} of {tried} attempts accepted, {len(kept)} different turns kept so far")
        # From the text again: an accepted answer may hold special tokens that the rule did not see, or have no end.
        turns: list[Turn] = [(list(prompt), policy.answer(text)) for prompt, text in sorted(kept)]
        if turns:
            fit(policy, turns, climb.optimizer, until, batch=batch, log=space.log)

    climb = Climb(space, policy, space.setting("SFT_RATE", 5e-4 if policy.small else 2e-4))
    climb.run(train, count=space.setting("ROUNDS", 4))
    space.log(f"best score: {climb.best}")


if __name__ == "__main__":
    main()
