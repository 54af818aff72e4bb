"""WebShop (Yao et al. 2022, arXiv:2207.01206) as a post-training task, played in the user's official environment.

Agent² RL-Bench grades on 100 instructions. By convention WebShop's first 500 goals are for tests: a suite's entropy
draws the graded and the held-out ones from these, and all other goals are for practice.
"""

from __future__ import annotations

import os
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from pathlib import Path
from textwrap import shorten

from heredity._core.errors import ConfigError, HostError
from heredity._core.ids import digest_bytes, digest_json, generator
from heredity._core.outside import jsonl
from heredity.kinds.checkpoint.tasks.contract import TRAIN_FILE, PostTrainingTask, plain_solver
from heredity.kinds.checkpoint.tasks.env.rollout import FORM, play, written
from heredity.kinds.checkpoint.tasks.kinds import GameProcess, episode_info, episode_solving
from heredity.kinds.checkpoint.tasks.taskset import DealtTaskset, Spec
from heredity.library.tasks.posttraining.webshop.process import LOAD_SECONDS, STEPS, Game, WebShop, web_shop
from heredity.models import Model

HOME_VARIABLE = "WEBSHOP_HOME"
"""Environment variable: the checkout of princeton-nlp/WebShop."""

PYTHON_VARIABLE = "WEBSHOP_PYTHON"
"""Environment variable: an interpreter that can import it."""

GRADED = 100
HELDOUT = 100
TEST_GOALS = 500
"""The first goals, which WebShop keeps for tests."""

SHOWN = 200
"""How many practice goals are played by rule, for rows to train on."""

LEAST = 0.5
"""What a purchase by rule has to earn to be among the rows."""

INSTRUCTION = f"""\
You are in a web shop. Buy what the instruction on the page asks for, in at most {STEPS} steps.
Actions: search[words] looks for products; click[text] clicks what stands between [button] and [button_] on the page, such as a
product's number or an option. Choose the options before you click[buy now]. Buying ends the game.
{FORM}"""

_SOURCES = ("web_agent_site/utils.py", "web_agent_site/envs/web_agent_text_env.py", "web_agent_site/engine/*.py")
_QUERY = 150
_BUTTON = re.compile(r"\[button\] (.+?) \[button_\]")
_PRODUCT = re.compile(r"[A-Z0-9]{10}")
_PRICE = re.compile(r",? and price lower than .*", re.DOTALL)
_PAGES = {"back to search", "next >", "< prev", "< back to results", "description", "features", "reviews", "attributes"}

_DESCRIPTION = f"""\
# WebShop

The model is given an instruction and buys one product in a web shop in at most {STEPS} steps: it searches, opens products, chooses
options, and buys. The shop, its products, its instructions and its reward are the official WebShop's (Yao et al. 2022). The reward
is from 0 to 1: how many of the wanted attributes and options the purchase has, and whether its price fits, times how well the kind
of product does. Not buying pays nothing.

- `data/train.jsonl`: steps of purchases on practice goals, each with `prompt` (exactly as the graded model is asked), `completion`,
  `episode`, its `question`, and the `reward` that the whole episode earned, at least {LEAST}. A simple rule made them: it searches
  for the instruction, takes the first product, and clicks the options that the instruction names. It is no model of good shopping.
- `data/instructions.jsonl`: the instructions of all practice goals, as `question`.

The shop itself is not in reach from here. A submission shops for {GRADED} other instructions, greedily; its score is the mean
reward.
"""


def webshop() -> PostTrainingTask:
    """Return the task of shopping in the official WebShop (L3).

    Raises:
        ConfigError: if `WEBSHOP_HOME` or `WEBSHOP_PYTHON` is invalid.
    """
    home, python = _home(), _python()
    info = episode_info(
        "webshop", f"{__name__}:open_game_process", version=_version(home), description=_DESCRIPTION, family="webshop"
    )
    shop = web_shop(str(home), str(python))

    def deal(entropy: int) -> Mapping[str, Sequence[Spec]]:
        return _deal(shop, entropy, home=str(home), python=str(python))

    def materials(entropy: int) -> Mapping[str, bytes]:
        return _materials(shop, deal(entropy)["train"])

    return PostTrainingTask(
        name="webshop",
        level="L3",
        title="Shopping in WebShop",
        description=_DESCRIPTION,
        base_models=("smollm2-135m",),
        inner=DealtTaskset(info, deal),
        solver=plain_solver(INSTRUCTION + "\n\n{{question}}"),
        # The first episode of a process may have to wait until WebShop is loaded.
        solving=episode_solving(seconds=1800.0 + LOAD_SECONDS),
        metric="mean reward",
        materials=materials,
        graded=GRADED,
        heldout=HELDOUT,
        structure={"capability": 4, "interaction": 5, "reward": 5, "horizon": 5},
        labels=("public benchmark",),
    )


@asynccontextmanager
async def open_game_process(spec: Spec, judge: Model | None) -> AsyncGenerator[GameProcess]:
    """Open the goal of a task's spec in the one WebShop of this process."""
    shop = web_shop(spec["home"], spec["python"])
    game = Game(shop, spec["goal"], spec["question"])
    try:
        yield _GameProcess(shop, game)
    finally:
        shop.thread.submit(game.close)


class _GameProcess:
    """A goal in play, used from this thread."""

    steps, harmless = STEPS, "search[red]"

    def __init__(self, shop: WebShop, game: Game) -> None:
        self._shop, self._game = shop, game

    async def reset(self) -> str:
        """Begin; raises `HostError` if WebShop fails."""
        return await self._shop.do(self._game.reset)

    async def step(self, action: str) -> tuple[str, float, bool]:
        """Take an action; raises as `Game.step`."""
        return await self._shop.do(lambda: self._game.step(action))


def _deal(shop: WebShop, entropy: int, **where: str) -> Mapping[str, Sequence[Spec]]:
    """Split the first goals into graded and held-out, and practise on the others; duplicate instructions count once."""
    goals = _goals(shop)
    numbers: dict[str, int] = {}
    for number, text in enumerate(goals):
        numbers.setdefault(" ".join(text.split()), number)
    tests = [number for number in numbers.values() if number < TEST_GOALS]
    others = [number for number in numbers.values() if number >= TEST_GOALS]
    if len(tests) < GRADED + HELDOUT or not others:
        raise ConfigError(
            f"WebShop in {where['home']} has {len(goals)} goals; expected more than {TEST_GOALS}: "
            "load all its products (step 6 of its README)"
        )

    def dealt(part: str, these: Sequence[int]) -> Sequence[Spec]:
        order = generator(entropy, "posttraining", "webshop", part).permutation(len(these))
        return [{"question": goals[these[i]], "goal": these[i], **where} for i in order]

    views = dealt("views", tests)
    return {
        "train": dealt("practice", others),
        "validation": views[:GRADED],
        "heldout": views[GRADED : GRADED + HELDOUT],
    }


@lru_cache
def _goals(shop: WebShop) -> Sequence[str]:
    try:
        return shop.thread.submit(lambda: shop.serving().goals).result()
    except HostError as error:
        raise ConfigError(
            f"the WebShop of {HOME_VARIABLE} cannot be loaded by {PYTHON_VARIABLE}: {error}; set both up as its README says"
        ) from error


def _materials(shop: WebShop, practice: Sequence[Spec]) -> Mapping[str, bytes]:
    def shopping() -> list[dict[str, object]]:
        return [row for episode, spec in enumerate(practice[:SHOWN]) for row in _by_rule(shop, episode, spec)]

    return {
        TRAIN_FILE: jsonl(shop.thread.submit(shopping).result()),
        "data/instructions.jsonl": jsonl({"question": spec["question"]} for spec in practice),
    }


def _by_rule(shop: WebShop, episode: int, spec: Spec) -> list[dict[str, object]]:
    """Play a goal by rule; return its steps as rows, or none if the reward was too low."""
    game = Game(shop, spec["goal"], spec["question"])
    try:
        played = play(game, INSTRUCTION, _rule(game))
    finally:
        game.close()
    if played.total < LEAST:
        return []
    more = {"episode": episode, "question": spec["question"], "reward": played.total}
    return [{"prompt": q, "completion": a, **more} for q, a in zip(played.asked, played.replies, strict=True)]


def _rule(game: Game) -> Callable[[str], str]:
    """Return a shopper like the rule of WebShop's paper (section 4) that also chooses the named options."""
    wanted, chosen = game.instruction.lower(), set[str]()
    words = shorten(_PRICE.sub("", wanted), _QUERY, placeholder="")

    def reply(_: str) -> str:
        buttons = [text.strip() for text in _BUTTON.findall(game.page)]
        if "Buy Now" not in buttons:
            product = next(filter(_PRODUCT.fullmatch, buttons), None)
            return written("", f"click[{product.lower()}]" if product else f"search[{words}]")
        named = (b for b in buttons if b.lower() not in _PAGES | chosen and _occurs(b.lower(), wanted))
        option = next(named, "Buy Now").lower()
        chosen.add(option)
        return written("", f"click[{option}]")

    return reply


def _occurs(words: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None


def _home() -> Path:
    home = Path(os.environ.get(HOME_VARIABLE, "")).expanduser().absolute()
    if HOME_VARIABLE not in os.environ or not (home / _SOURCES[1]).is_file():
        given = os.environ.get(HOME_VARIABLE)
        raise ConfigError(
            f"{HOME_VARIABLE} is {given!r}; expected a checkout of princeton-nlp/WebShop (with {_SOURCES[1]}), "
            "set up as its README says"
        )
    return home


def _python() -> Path:
    # Not resolved: the link in a virtual environment is what tells an interpreter which one it is in.
    python = Path(os.environ.get(PYTHON_VARIABLE, "")).expanduser().absolute()
    if PYTHON_VARIABLE not in os.environ or not os.access(python, os.X_OK) or python.is_dir():
        given = os.environ.get(PYTHON_VARIABLE)
        raise ConfigError(
            f"{PYTHON_VARIABLE} is {given!r}; expected the path of the Python in which WebShop's requirements are installed"
        )
    return python


def _version(home: Path) -> str:
    """Return a fingerprint of a checkout's rules and data, without reading gigabytes."""
    sources = sorted(path for pattern in _SOURCES for path in home.glob(pattern))
    contents = {
        "sources": {str(path.relative_to(home)): digest_bytes(path.read_bytes()) for path in sources},
        "data": {path.name: path.stat().st_size for path in sorted(home.glob("data/*.json"))},
    }
    return f"1, WebShop {digest_json(contents)[:12]}"
