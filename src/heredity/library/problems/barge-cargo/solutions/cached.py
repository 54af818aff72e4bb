from functools import cache


class Solution:
    def bestCargo(self, weights, values, capacity):
        @cache
        def best(place, room):
            """The best of the kinds from `place` on: each once at most, and with one of them twice."""
            if place == len(weights):
                return 0, 0
            weight, value = weights[place], values[place]
            once, twin = best(place + 1, room)
            if weight <= room:
                below, twice_below = best(place + 1, room - weight)
                once, twin = max(once, value + below), max(twin, value + twice_below)
            if 2 * weight <= room:
                twin = max(twin, 2 * value + best(place + 1, room - 2 * weight)[0])
            return once, twin

        return best(0, capacity)[1]
