from base.env.base_observation import ObservationPolicy


class NearTheBoat(ObservationPolicy):
    def __call__(self, env_state, t):
        place = env_state["boat"]["place"]
        lanterns = env_state["canal"]["lanterns"]
        near = {p: lanterns[p] for p in range(place - 1, place + 2) if 0 <= p < len(lanterns)}
        return {"t": t, "place": place, "near": near}
