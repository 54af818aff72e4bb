from base.env.base_validator import WorldValidator


class CanalValidator(WorldValidator):
    def validate_level(self, level_state):
        dark = level_state["canal"]["lanterns"].count("dark")
        return dark > 0, [] if dark else ["no lantern is dark"]

    def max_reward(self, level_state):
        return float(level_state["canal"]["lanterns"].count("dark"))
