class Solution:
    def kindredPairs(self, numbers, measure):
        high = 100_000 // measure
        count = [0] * (high + 1)
        for number in set(numbers):
            if number % measure == 0:
                count[number // measure] = 1
        pairs = [0] * (high + 1)
        for step in range(high, 0, -1):
            many = sum(count[step::step])
            pairs[step] = many * (many - 1) // 2 - sum(pairs[2 * step :: step])
        return pairs[1]
