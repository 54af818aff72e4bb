from functools import cache


class Solution:
    def bestCargo(self, weights, values, capacity):
        @cache
        def best(place, room, twin):
            if place == len(weights):
                return 0
            weight, value = weights[place], values[place]
            found = best(place + 1, room, twin)
            if weight <= room:
                found = max(found, value + best(place + 1, room - weight, twin))
            if twin and 2 * weight <= room:
                found = max(found, 2 * value + best(place + 1, room - 2 * weight, False))
            return found

        return best(0, capacity, True)
