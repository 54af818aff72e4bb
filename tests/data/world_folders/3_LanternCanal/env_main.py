import random

import numpy as np
import yaml
from base.env.base_env import SkinEnv
from env_generate import CanalGenerator
from env_obs import NearTheBoat


class LanternCanal(SkinEnv):
    def __init__(self, env_id):
        self.obs_policy = NearTheBoat()
        super().__init__(env_id, self.obs_policy)
        self.generator = CanalGenerator(env_id, self.configs)

    def _dsl_config(self):
        with open("./config.yaml") as file:
            self.configs = yaml.safe_load(file)

    def _load_world(self, world_id):
        with open(f"./levels/{world_id}.yaml") as file:
            return yaml.safe_load(file)

    def _generate_world(self, seed=None):
        return self.generator.generate(seed)

    def reset(self, mode="load", world_id=None, seed=None):
        if mode == "generate":
            world_id = self._generate_world(seed)
        self._state = self._load_world(world_id)
        self._t, self._history = 0, []
        self.mist = float(np.random.random())
        return self._state

    def transition(self, action):
        lanterns, boat = self._state["canal"]["lanterns"], self._state["boat"]
        self.lit = False
        name, params = action.get("action"), action.get("params") or {}
        if name == "sail" and isinstance(params, dict) and params.get("towards") in ("source", "sea"):
            by = 1 if params["towards"] == "sea" else -1
            boat["place"] = min(max(boat["place"] + by, 0), len(lanterns) - 1)
            self._last_action_result = "sailed"
        elif name == "light" and lanterns[boat["place"]] == "dark":
            lanterns[boat["place"]] = "lit"
            self.lit = True
            self._last_action_result = "a lantern burns"
        elif name == "moor":
            self._last_action_result = "moored"
        else:
            self._last_action_result = "nothing happens"
        if name == "sail" and random.random() < self._state["canal"]["wind"]:
            boat["place"] = max(boat["place"] - 1, 0)
        return self._state

    def reward(self, action):
        return (1.0, ["lit"], {"place": self._state["boat"]["place"]}) if self.lit else (0.0, [], {})

    def observe_semantic(self):
        return self.obs_policy(self._state, self._t)

    def render_skin(self, omega):
        near = ", ".join(f"{place}: {what}" for place, what in omega["near"].items())
        return f"Step {omega['t']}. You are at {omega['place']}. Mist {self.mist:.6f}.\n{near}"

    def done(self, state=None):
        return "dark" not in self._state["canal"]["lanterns"] or super().done(state)
