class Solution:
    def bestCargo(self, weights, values, capacity):
        first, second = [0] * (capacity + 1), [0] * (capacity + 1)
        order = sorted(range(len(weights)), key=weights.__getitem__)
        for i in order:
            weight, value = weights[i], values[i]
            if weight > capacity:
                break
            old_first, old_second = first, second
            first, second = old_first[:weight], old_second[:weight]
            for room in range(weight, capacity + 1):
                first.append(max(old_first[room], old_first[room - weight] + value))
                found = max(old_second[room], old_second[room - weight] + value)
                second.append(max(found, old_first[room - 2 * weight] + 2 * value) if room >= 2 * weight else found)
        return max(first[-1], second[-1])
