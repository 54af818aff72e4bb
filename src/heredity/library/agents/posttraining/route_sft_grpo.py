"""A short warm-up by supervised fine-tuning, then GRPO with online rollouts."""

from __future__ import annotations

from games import rollouts_of
from grpo import Recipe, improve
from policy import Policy
from rounds import Climb
from supervised import fit
from workspace import Workspace


def main() -> None:
    space = Workspace()
    space.leave_when_told()
    seed = space.setting("SEED", 0)
    policy = Policy(space.model, rank=space.setting("LORA_RANK", 16), seed=seed)
    examples = [policy.turn(row["prompt"], row["completion"]) for row in space.rows()]
    space.log(f"{policy.size} parameters on {policy.device}, {len(examples)} examples, {space.remaining():.0f} s left")
    batch = space.setting("SFT_BATCH", 64 if policy.small else 8)
    climb = Climb(space, policy, space.setting("SFT_RATE", 1e-3 if policy.small else 3e-4))
    # What is learned by heart leaves nothing to explore, so the warm-up sees some of the solutions only.
    shown = examples[: max(1, round(len(examples) * space.setting("WARMUP_ROWS", 0.5)))]
    climb.run(
        lambda until: fit(policy, shown, climb.optimizer, until, batch=batch, log=space.log),
        count=1,
        share=space.setting("WARMUP", 0.15),
    )

    online = rollouts_of(space, policy, seed)
    recipe = Recipe(
        problems=space.setting("PROBLEMS", online.problems if policy.small else 4),
        group=space.setting("GROUP", 8),
        updates=space.setting("UPDATES", 2),
        kl=space.setting("KL", 0.0),
        batch=256 if policy.small else 8,
    )
    climb.begin(space.setting("GRPO_RATE", 3e-4 if policy.small else 1e-4))
    climb.run(
        lambda until: improve(policy, online.play, climb.optimizer, until, recipe, space.log),
        count=space.setting("ROUNDS", 4),
    )
    space.log(f"best score: {climb.best}")


if __name__ == "__main__":
    main()
