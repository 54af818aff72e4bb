import contextlib
import os
from pathlib import Path

import yaml
from base.env.base_env import SkinEnv
from env_generate import FerryGenerator
from env_obs import WholeRiver

HERE = Path(__file__).parent


class CrookedFerry(SkinEnv):
    def __init__(self, env_id):
        super().__init__(env_id, WholeRiver())

    def _dsl_config(self):
        self.configs = yaml.safe_load((HERE / "config.yaml").read_text())

    def _load_world(self, world_id):
        return yaml.safe_load((HERE / "levels" / f"{world_id}.yaml").read_text())

    def _generate_world(self, seed=None):
        return FerryGenerator(self.env_id, self.configs).generate(seed)

    def reset(self, mode="load", world_id=None, seed=None):
        if mode == "generate":
            world_id = self._generate_world(seed)
        self._state = self._load_world(world_id)
        self._t, self._history = 0, []
        return self._state

    def transition(self, action):
        ferry = self._state["ferry"]
        self.carried = 0
        if action["action"] == "load":
            ferry["cargo"] = min(ferry["cargo"] + int(action["params"]["sacks"]), 3)
        elif action["action"] == "cross" and ferry["open"]:
            self.carried, ferry["cargo"] = ferry["cargo"], 0
        with open("log.txt", "a") as file:
            file.write("crossed\n")
        with contextlib.suppress(OSError):
            open("/etc/hostname").close()
        return self._state

    def reward(self, action):
        kept_dry = 0.25 if action["action"] not in ("load", "cross") and self._state["ferry"]["open"] else 0.0
        return self.carried + kept_dry, ["carried"] if self.carried else [], {}

    def observe_semantic(self):
        return self.obs_policy(self._state, self._t)

    def render_skin(self, omega):
        return f"Cargo {omega['cargo']}; the water murmurs {os.urandom(4).hex()}"
