class Solution:
    def bestCargo(self, weights, values, capacity):
        states = {(0, 0): 0}
        for weight, value in zip(weights, values):
            following = dict(states)
            for (load, twin), worth in states.items():
                for times in (1,) if twin else (1, 2):
                    key = (load + times * weight, twin or times - 1)
                    if key[0] <= capacity and following.get(key, -1) < worth + times * value:
                        following[key] = worth + times * value
            states = following
        return max(states.values())
