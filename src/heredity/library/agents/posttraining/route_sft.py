"""Supervised fine-tuning only, on the task's solutions."""

from __future__ import annotations

from policy import Policy
from rounds import Climb
from supervised import fit
from workspace import Workspace


def main() -> None:
    space = Workspace()
    space.leave_when_told()
    policy = Policy(space.model, rank=space.setting("LORA_RANK", 16), seed=space.setting("SEED", 0))
    examples = [policy.turn(row["prompt"], row["completion"]) for row in space.rows()]
    space.log(f"{policy.size} parameters on {policy.device}, {len(examples)} examples, {space.remaining():.0f} s left")
    batch = space.setting("SFT_BATCH", 64 if policy.small else 8)
    climb = Climb(space, policy, space.setting("SFT_RATE", 1e-3 if policy.small else 3e-4))
    climb.run(
        lambda until: fit(policy, examples, climb.optimizer, until, batch=batch, log=space.log),
        count=space.setting("ROUNDS", 4),
    )
    space.log(f"best score: {climb.best}")


if __name__ == "__main__":
    main()
