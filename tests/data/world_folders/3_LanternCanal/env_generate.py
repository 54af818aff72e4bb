import random
from pathlib import Path

import yaml
from base.env.base_generator import WorldGenerator


class CanalGenerator(WorldGenerator):
    def generate(self, seed=None, save_path=None):
        world_id = f"canal_{seed}"
        state = self._execute_pipeline(dict(self.config["state_template"]), seed)
        path = Path(save_path or Path(__file__).parent / "levels" / f"{world_id}.yaml")
        path.write_text(yaml.safe_dump(state))
        return world_id

    def _execute_pipeline(self, base_state, seed=None):
        random.seed(seed)
        length = self.config["misc"]["length"]
        lanterns = [random.choice(["dark", "none"]) for _ in range(length - 1)] + ["dark"]
        canal = {"lanterns": lanterns, "wind": round(random.uniform(0.0, 0.4), 2)}
        return {**base_state, "boat": {"place": random.randrange(length)}, "canal": canal}
