from base.env.base_observation import ObservationPolicy


class WholeRiver(ObservationPolicy):
    def __call__(self, env_state, t):
        return {"t": t, **env_state["ferry"]}
