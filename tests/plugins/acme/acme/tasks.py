"""Numbers to guess: a taskset named `acme/numbers`."""

from __future__ import annotations

from heredity import Task, TasksetInfo, UnknownNameError, generator

HIGHEST = 100


class Numbers:
    """Hidden numbers from 0 to 100; a task's spec is `{"number": int}`."""

    info = TasksetInfo(
        name="acme/numbers",
        version="1",
        kind="number",
        spec={},
        public={"highest": HIGHEST},
        description="Name a whole number that is close to hidden ones.",
        failure_return=-float(HIGHEST),
        family="acme",
    )

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Return the first numbers of a split."""
        numbers = generator(entropy, "acme", split).integers(40, HIGHEST + 1, size=count)
        return tuple(Task(f"{split}/{i}", split, i, {"number": int(number)}) for i, number in enumerate(numbers))


class Source:
    """The tasksets of this package."""

    def names(self) -> tuple[str, ...]:
        """Return the one there is."""
        return (Numbers.info.name,)

    def taskset(self, name: str) -> Numbers:
        """Return it."""
        if name not in self.names():
            raise UnknownNameError("taskset", name, self.names())
        return Numbers()


SOURCE = Source()
