"""WebShop's text environment behind its pipes: run by the user's own interpreter (Python 3.8 or later), never imported.

A line of JSON is answered by a line of JSON. The first line, after loading, has the instructions of all goals. Then
`{"open": GAME, "goal": INDEX}` gives the first page, `{"step": GAME, "action": TEXT}` a page, the reward and whether
that was the end, and `{"close": GAME}` forgets the game. What fails is answered by `{"error": TEXT}`. Without games and
requests it ends after a while.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import select
import sys
from typing import Any

IDLE = 600.0
"""Seconds without a request after which the process ends if no game is open."""

_SEED = 0


class Shop:
    """WebShop, loaded once: its games share products, search index and goals."""

    def __init__(self) -> None:
        module: Any = importlib.import_module("web_agent_site.envs.web_agent_text_env")
        self._environment = module.WebAgentTextEnv
        # Limits of prices are drawn at loading from Python's generator, which WebShop itself seeds only later.
        random.seed(_SEED)
        self._server: Any = self._environment(observation_mode="text_rich", human_goals=True).server
        self.games: dict[str, Any] = {}

    def goals(self) -> dict[str, Any]:
        """Return the instructions, in the order of the goals."""
        return {"goals": [goal["instruction_text"] for goal in self._server.goals]}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what a request asks for."""
        if "open" in request:
            # Sessions of one server are told apart by their names, so a goal may be played several times at once.
            name = f"heredity-{request['open']}-"
            game = self._environment(observation_mode="text_rich", server=self._server, session_prefix=name)
            page, _ = game.reset(session=request["goal"])
            self.games[request["open"]] = game
            return {"page": page}
        if "close" in request:
            self.games.pop(request["close"], None)
            name = f"heredity-{request['close']}-"
            for session in [user for user in self._server.user_sessions if str(user).startswith(name)]:
                del self._server.user_sessions[session]
            return {}
        page, reward, done, _ = self.games[request["step"]].step(request["action"])
        return {"page": page, "reward": float(reward), "done": bool(done)}


def main() -> None:
    """Load WebShop and answer requests until they end."""
    # WebShop, its libraries and Java print as they like: what they say goes to the other pipe, and they read nothing.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    questions = os.fdopen(os.dup(0), "r", encoding="utf-8")
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.path[0] = os.getcwd()

    def say(reply: dict[str, Any]) -> None:
        answers.write(json.dumps(reply) + "\n")
        answers.flush()

    shop = Shop()
    say(shop.goals())
    while shop.games or select.select([questions], [], [], IDLE)[0]:
        line = questions.readline()
        if not line:
            return
        try:
            reply = shop.answer(json.loads(line))
        except Exception as error:  # noqa: BLE001 - whatever WebShop raises is told, and the other games go on
            reply = {"error": f"{type(error).__name__}: {error}"}
        say(reply)


if __name__ == "__main__":
    main()
