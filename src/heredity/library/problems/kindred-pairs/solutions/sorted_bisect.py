from array import array


class Solution:
    def kindredPairs(self, numbers, measure):
        high = 100_000 // measure
        count = array("l", [0]) * (high + 1)
        for number in sorted(numbers):
            if number % measure == 0:
                count[number // measure] += 1
        pairs = array("q", [0]) * (high + 1)
        for step in range(high, 0, -1):
            many = more = 0
            for multiple in range(step, high + 1, step):
                many += count[multiple]
                more += pairs[multiple]
            pairs[step] = many * (many - 1) // 2 - more
        return pairs[1]
