"""A player without a language model: it tries actions, keeps to what pays, and heeds the rules that stand in its prompt.

Rules are lines of prompt/system, such as

- Avoid {"action": "wait", "params": {}}
- Prefer {"action": "sell", "params": {"what": "amber"}}
- When it says "the door is open", do {"action": "move", "params": {"direction": "north"}}

An action's name alone, as in `- Prefer sell`, stands for it with any parameters. Everything else is chance, steered by the
constants below. Both are there to be improved.
"""

import itertools
import json
import random
import re

EXPLORE = 0.4  # how often an action is drawn rather than the one that paid best so far
REPEAT_PAYING = False  # whether what has just paid is done again at once
AVOID_USELESS = False  # whether what has just changed nothing is left alone for a while
SWEEP = False  # whether actions are tried in turn rather than drawn

RULE = re.compile(r'^- (Avoid|Prefer|When it says "([^"]+)", do) (\{.*\}|\w+)\s*$', re.MULTILINE)
MOST = 60


class Player:
    """Plays one episode."""

    def __init__(self, instruction, actions, prompts, memories):
        random.seed(len(instruction))
        self.choices = [choice for action in actions for choice in choices_of(action)]
        self.rules = [(kind, words, read(action)) for kind, words, action in RULE.findall(prompts.get("system", ""))]
        self.paid = {}
        self.tried = {}
        self.useless = {}
        self.turn = 0
        self.last = None
        self.seen = ""

    def act(self, observation):
        """Return an action for what is seen."""
        pay = re.search(r"The last action paid (-?[\d.e+-]+)\.\s*$", observation)
        paid = float(pay[1]) if pay else 0.0
        if self.last is not None:
            key = json.dumps(self.last)
            self.paid[key] = self.paid.get(key, 0.0) + paid
            self.tried[key] = self.tried.get(key, 0) + 1
            if observation == self.seen:
                self.useless[key] = self.turn
        self.seen, self.turn = observation, self.turn + 1
        self.last = self.choose(observation, paid)
        return self.last

    def choose(self, observation, paid):
        """Return a rule's action, what pays, or something to try."""
        for kind, words, action in self.rules:
            fitting = [c for c in self.choices if covers(action, c)] or [action]
            if kind.startswith("When") and words in observation and self.fresh(action):
                return random.choice(fitting)
        if REPEAT_PAYING and paid > 0 and self.last is not None:
            return self.last
        avoided = [action for kind, _, action in self.rules if kind == "Avoid"]
        open_ = [c for c in self.choices if not any(covers(a, c) for a in avoided) and self.fresh(c)] or self.choices
        liked = [action for kind, _, action in self.rules if kind == "Prefer"]
        preferred = [c for c in open_ if any(covers(a, c) for a in liked)]
        if preferred and random.random() > EXPLORE:
            return random.choice(preferred)
        known = [c for c in open_ if self.paid.get(json.dumps(c), 0.0) > 0]
        if known and random.random() > EXPLORE:
            return max(known, key=lambda c: self.paid[json.dumps(c)] / self.tried[json.dumps(c)])
        return open_[self.turn % len(open_)] if SWEEP else random.choice(open_)

    def fresh(self, action):
        """Whether an action is worth doing: not one that has changed nothing of late."""
        return not AVOID_USELESS or self.turn - self.useless.get(json.dumps(action), -100) > 5


def covers(rule, choice):
    """Whether a rule's action stands for a choice: the same, or of the same name where the rule gives no parameters."""
    return rule["action"] == choice["action"] and rule.get("params", choice["params"]) == choice["params"]


def read(text):
    """Return the action in a rule; one that cannot be read does nothing."""
    if text.isidentifier():
        return {"action": text}
    try:
        return json.loads(text)
    except ValueError:
        return {"action": "", "params": {}}


def choices_of(action):
    """Return an action with some of the values of its parameters."""
    values = [[(name, value) for value in values_of(text)] for name, text in action["parameters"].items()]
    chosen = itertools.islice(itertools.product(*values), MOST)
    return [{"action": action["name"], "params": dict(values)} for values in chosen]


def values_of(text):
    """Return values of a parameter from its description: `one of a, b`, `an integer from 1 to 5`."""
    if text.startswith("one of "):
        return text.removeprefix("one of ").partition(";")[0].split(", ")
    span = re.match(r"(an integer|a number) from (-?[\d.e+]+) to (-?[\d.e+]+)", text)
    if not span:
        return [""]
    low, high = float(span[2]), float(span[3])
    if span[1] == "an integer":
        whole = range(int(low), int(high) + 1)
        return list(whole) if len(whole) <= 12 else [whole[i * (len(whole) - 1) // 7] for i in range(8)]
    return [low + (high - low) * i / 4 for i in range(5)]
