class Solution:
    def bestCargo(self, weights, values, capacity):
        total, room, twin = 0, capacity, True
        for weight, value in sorted(zip(weights, values), key=lambda one: -one[1] / one[0]):
            if weight <= room:
                total, room = total + value, room - weight
                if twin and weight <= room:
                    total, room, twin = total + value, room - weight, False
        return total
