"""What a configuration says of policy evolution beside the general sections."""

from __future__ import annotations

from typing import ClassVar

from heredity.configuration.sections import EVERY_KEY, Section


class ReferencesSection(Section):
    """`[references]`: what else a run is compared with than the random policy; they use no episodes of the budget.

    Attributes:
        null: a program that does nothing: the null action at every step.
        constant: the best of a few programs that repeat one action, chosen on the validation cases as checkpoints are.
    """

    indifferent: ClassVar[tuple[str, ...]] = EVERY_KEY

    null: bool = True
    constant: bool = True
