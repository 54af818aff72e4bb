"""Configuration sections of policy evolution, in addition to the general ones."""

from __future__ import annotations

from typing import ClassVar

from heredity.configuration.sections import EVERY_KEY, Section


class ReferencesSection(Section):
    """`[references]`: baselines in addition to the random policy; they use no episodes of the budget.

    Attributes:
        null: a program that takes the null action at every step.
        constant: the best of a few programs that repeat one action, selected on the validation cases like checkpoints.
    """

    indifferent: ClassVar[tuple[str, ...]] = EVERY_KEY

    null: bool = True
    constant: bool = True
