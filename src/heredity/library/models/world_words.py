"""Vocabulary of the offline authors of worlds: mechanics selected by words of a theme, and worlds that have them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from heredity._core.ids import generator
from heredity.kinds.world.compose.composing import Composition, compose
from heredity.kinds.world.compose.recipe import Recipe

MECHANICS: Mapping[str, str] = {
    "keys and doors": "key keys door doors lock locks locked licence permit keycard",
    "guards and tools": "guard guards troll watchman sentry clerk nomad goat bribe tool tools gift gifts",
    "a machine with a law to be found": "machine machines engine lever levers dial dials law clockwork mill pump reactor",
    "sequences to be remembered": "sequence sequences password melody song order orders remember remembers inscription code",
    "things that are pushed": "push pushes pushed crate crates boulder boulders trolley stones",
    "bridges that decay": "bridge bridges plank planks decay decays rotten gangway arch",
    "an opponent that moves by a rule": "opponent rival rivals patrol bear dog drone wolf raider thief jackal gander meddler",
    "timers and fuel": "fuel oil oxygen candle heat breath strength lamp lamps water errand",
    "passages to somewhere else": "portal portals tunnel tunnels mirror mirrors hatch passage passages shaft",
    "sight that ends": "fog dark darkness dim mist gloom",
    "signals with noise": "rumour rumours noise noisy hearsay signal signals whisper whispers",
    "crops that ripen": "crop crops ripen ripens harvest melon melons mushrooms farm orchard dates plots garden",
    "prices that drift": "price prices trade trades trader market merchant bazaar sell sells buy buys auction",
    "things that wear out": "wear wears spoil spoils rot rust worn",
    "a hidden process in time": "rain weather season tide clouds",
    "day and night": "day days night nights dusk dawn",
    "amounts to be measured": "measure measures measured jug jugs vessel vessels pour pours brewer",
    "errands between places": "errands carry carries courier postman rooms circle carousel",
    "keys of several colours": "red blue coloured colours",
    "kinds of ground": "ice icy slippery slide slides frozen",
    "a place that moves": "belt belts conveyor turning turns carousel",
    "chance in what happens": "gust gusts wind windy storm",
    "costs of what is done": "toll tolls thorns tariff fee fees",
    "resources that run out": "spring scarce dry drought",
    "a need to sleep": "sleep tired sleepy",
    "things made of others": "craft crafts crafting forge smith workshop recipe recipes",
    "a row to be put in order": "sort sorts sorted row rows tidy",
    "a crossing with quarrels": "ferryman ferries crossing river raft passengers",
    "a contest of strength": "duel fight fights contest arena knight",
    "stocks that renew": "fish fishing herd herds hunt hunter renew",
    "pairs to be found": "pairs card cards twins matching",
    "a light that burns down": "wick lantern torch",
    "leave to be asked for": "permission petition",
    "strain that builds up": "strain tension pressure",
    "costs of haste": "haste hurry patience",
    "things that are fixed": "nailed fixed",
    "weights to be balanced": "weight weights heavy",
    "words that mean the contrary": "contrary opposite inverted liar lies misleading backwards",
}
"""Words that ask for a mechanic, as `heredity.kinds.world.compose` calls it."""
PLACES: Mapping[str, str] = {
    "cavern": "cavern cave caves mine troll crystal miner",
    "harbour": "harbour port ship ships quay ferry sea sailor lighthouse",
    "station": "station space robot astronaut oxygen drone airlock orbit",
    "garden": "garden gardener hedge orchard farm beehive farmer",
    "library": "library books scroll scribe candle archive monk",
    "desert": "desert caravan oasis ruin sand nomad bazaar tomb",
}
"""Words that name a place, by the vocabulary of nouns that it has."""
_ASKED: Mapping[str, Mapping[str, str]] = {
    "reward": {
        "accumulative": "coins coin profit collect collects gather gathers many much earn earns score",
        "binary": "escape escapes reach reaches deliver delivers open opens win once",
    },
    "observation": {
        "partial": "hidden unknown secret secrets unseen fog dark rumour rumours hearsay noisy",
        "full": "visible posted plain shown",
    },
    "semantics": {"inverse": MECHANICS["words that mean the contrary"]},
}
ABSTRACT = frozenset(
    word
    for words in (
        "surreal strange weird mystery beauty harmony essence consciousness",
        "meaning dream dreams feeling feelings soul truth infinite",
    )
    for word in words.split()
)
"""Words that name nothing that rules could hold on to."""
_WORDS = re.compile(r"[a-z]+")
_LOOKED_AT = 48
KEPT = 4
"""How many worlds are chosen for a theme, best first: the next one where one cannot be mended."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """Requirements of a theme, from its known words.

    Attributes:
        mechanics: mechanics by name.
        place: the vocabulary of nouns (empty if no word decides it).
        asked: kind of reward, observation and semantics, if a word decides it.
        unknown: unknown words of more than three letters.
    """

    mechanics: tuple[str, ...]
    place: str
    asked: Mapping[str, str]
    unknown: tuple[str, ...]

    @property
    def nothing(self) -> bool:
        """True if no word of the theme is known."""
        return not (self.mechanics or self.place)


def words_of_theme(theme: str) -> list[str]:
    """Return the words of a theme in order."""
    return _WORDS.findall(theme.lower())


def wishes(theme: str) -> Wishes:
    """Return the requirements of a theme."""
    words = words_of_theme(theme)
    present = set(words)
    mechanics = tuple(name for name, asking in MECHANICS.items() if present & set(asking.split()))
    hits = {setting: len(present & set(asking.split())) for setting, asking in PLACES.items()}
    setting = max(hits, key=hits.__getitem__)
    asked: dict[str, str] = {}
    for key, values in _ASKED.items():
        counts = {value: len(present & set(asking.split())) for value, asking in values.items()}
        best = max(counts, key=counts.__getitem__)
        if counts[best]:
            asked[key] = best
    vocabulary = set(
        " ".join([*MECHANICS.values(), *PLACES.values(), *(t for v in _ASKED.values() for t in v.values())]).split()
    )
    unknown = tuple(dict.fromkeys(word for word in words if len(word) > 3 and word not in vocabulary))
    return Wishes(mechanics, setting if hits[setting] else "", asked, unknown)


@lru_cache(maxsize=256)
def chosen(theme: str, seed: int) -> Sequence[Composition]:
    """Return the worlds that best meet a theme's requirements, best first; none if no word of it is known.

    It examines a number of compositions of two or three mechanics, drawn by the theme's words and a seed.
    """
    wanted = wishes(theme)
    if wanted.nothing:
        return ()
    asked = dict(wanted.asked)
    if "fog" in words_of_theme(theme) or "signals with noise" in wanted.mechanics:
        asked["observation"] = "partial"
    rng = generator(seed, "offline", "world-author", " ".join(words_of_theme(theme)))
    drawn = [int(number) for number in rng.integers(10**9, size=_LOOKED_AT)]
    made = [compose(Recipe(number, **asked, difficulty="1")) for number in drawn]
    return sorted(made, key=lambda one: -_fit(one, wanted))[:KEPT]


def _fit(made: Composition, wanted: Wishes) -> float:
    asked, has = set(wanted.mechanics), set(made.mechanics)
    return len(asked & has) - 0.3 * len(has - asked) + 0.5 * (made.theme == wanted.place)
