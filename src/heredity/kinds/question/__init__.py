"""Questions as tasks: benchmarks, files and generated ones, with answers checked by a rule or by a judge.

The tasksets are named `questions/gsm8k`, `questions/aime24`, `questions/aime25`, `questions/gpqa`, `questions/gaia`,
`questions/hle`, `questions/local-web`, `questions/file:PATH` and `questions/reasoning-gym/NAME`; the last five take
options, such as `?min_digits=2&max_digits=3`. Benchmarks take `?whole=true`, beside their other options, which holds
out all their questions, so that none are left for training. `questions/mix/A+B` alternates between several, such as
`questions/mix/gsm8k+reasoning-gym/gcd`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.outside import json_value
from heredity._core.plugins import located
from heredity._core.refusals import quoted
from heredity.engine.questions.pools import SITES, Pool, PoolTaskset, whole
from heredity.kinds.question import aime, gaia, gpqa, gsm8k, hle, mixed, reasoning
from heredity.kinds.question.files import read_pool
from heredity.tasks.contract import Taskset
from heredity.tasks.options import written_options

_OWN = "questions/"
_FILE = "questions/file:"
_WITH_OPTIONS = {gaia.NAME: gaia.read_gaia, hle.NAME: hle.read_hle}


class QuestionTasksets:
    """The tasksets named `"questions/…"`."""

    _benchmarks: ClassVar[Mapping[str, Callable[[], Pool]]] = {
        gsm8k.NAME: gsm8k.read_gsm8k,
        gpqa.NAME: gpqa.read_gpqa,
        **{name: partial(aime.read_aime, year) for name, year in aime.NAMES.items()},
    }

    def names(self) -> tuple[str, ...]:
        """Return all names but those of files; generated ones only if reasoning-gym is installed."""
        generated = (reasoning.PREFIX + name for name in reasoning.dataset_names())
        return (
            gsm8k.NAME,
            *aime.NAMES,
            gpqa.NAME,
            *_WITH_OPTIONS,
            *(_OWN + site for site in SITES.names()),
            *generated,
        )

    def taskset(self, name: str) -> Taskset:
        """Return the taskset with a full name; files are read when its questions are first needed.

        Raises:
            UnknownNameError: if the taskset or one of its options does not exist.
            MissingExtraError: if reasoning-gym is needed and not installed.
            ConfigError: if an option's value is wrong.
        """
        if name.startswith(mixed.PREFIX):
            members = name.removeprefix(mixed.PREFIX).split("+")
            return mixed.MixedTaskset(name, [self.taskset(f"questions/{member}") for member in members])
        base, _, query = name.partition("?")
        options = _options(name, query)
        if base.startswith(_FILE):
            return PoolTaskset(name, partial(read_pool, Path(base.removeprefix(_FILE)).expanduser(), options))
        if base.startswith(reasoning.PREFIX):
            return reasoning.ReasoningTaskset(base.removeprefix(reasoning.PREFIX), options)
        if (site := base.removeprefix(_OWN)) in SITES:
            return PoolTaskset(name, partial(SITES.load(site).pool, options))
        if base in _WITH_OPTIONS or base in self._benchmarks:
            return PoolTaskset(name, self._benchmark(base, options))
        raise UnknownNameError("taskset", name, [*self.names(), f"{_FILE}PATH"])

    def _benchmark(self, base: str, options: dict[str, Any]) -> Callable[[], Pool]:
        """Return the reader of a benchmark with its options."""
        held = options.pop("whole", False)
        if not isinstance(held, bool):
            raise ConfigError(
                f"{base}: whole is {quoted(held)}; expected true, which holds out all questions, or false"
            )
        if base in _WITH_OPTIONS:
            read: Callable[[], Pool] = partial(_WITH_OPTIONS[base], options)
        elif options:
            raise ConfigError(f"{base} has no option {min(options)!r}; it has only whole=true")
        else:
            read = self._benchmarks[base]
        return partial(whole, read) if held else partial(_published, base, read)

    def located(self, name: str, base: Path) -> str:
        """Return a name with the paths of its files made absolute relative to the folder `base`."""
        if name.startswith(mixed.PREFIX):
            members = name.removeprefix(mixed.PREFIX).split("+")
            return mixed.PREFIX + "+".join(self.located(_OWN + member, base).removeprefix(_OWN) for member in members)
        path, question_mark, query = name.removeprefix(_FILE).partition("?")
        return f"{_FILE}{located(path, base)}{question_mark}{query}" if name.startswith(_FILE) else name


SOURCE = QuestionTasksets()
"""What `heredity.tasks.registry` loads."""


def _published(base: str, read: Callable[[], Pool]) -> Pool:
    pool = read()
    if any(question.verifier["kind"] == "unpublished" for part in pool.splits.values() for question in part):
        raise ConfigError(
            f"the answers of these questions are not published, so none can be for training; ask them whole: {base}?whole=true"
        )
    return pool


def _options(name: str, query: str) -> dict[str, Any]:
    return {key: _value(value) for key, value in written_options(name, query).items()}


def _value(text: str) -> Any:
    """Return an option's value: JSON where it is JSON, else the text itself."""
    try:
        return json_value(text)
    except ValueError:
        return text
