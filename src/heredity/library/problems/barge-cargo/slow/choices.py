class Solution:
    def bestCargo(self, weights, values, capacity):
        def best(place, room, twin):
            if place == len(weights):
                return 0
            found = best(place + 1, room, twin)
            if weights[place] <= room:
                found = max(found, values[place] + best(place + 1, room - weights[place], twin))
            if twin and 2 * weights[place] <= room:
                found = max(found, 2 * values[place] + best(place + 1, room - 2 * weights[place], False))
            return found

        return best(0, capacity, True)
