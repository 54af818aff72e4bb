from itertools import islice


class Solution:
    def kindredPairs(self, numbers, measure):
        high = 100_000 // measure
        count = [0] * (high + 1)
        for number in numbers:
            if number % measure == 0:
                count[number // measure] += 1
        pairs = [0] * (high + 1)
        for step in reversed(range(1, high + 1)):
            many = sum(islice(count, step, None, step)) if step < 300 else sum(count[step::step])
            pairs[step] = many * (many - 1) // 2 - sum(pairs[step::step])
        return pairs[1]
