class Solution:
    def kindredPairs(self, numbers, measure):
        high = max(numbers) // measure
        count = [0] * (high + 1)
        for number in numbers:
            if number % measure == 0:
                count[number // measure] += 1
        pairs = [0] * (high + 1)
        for step in range(high, 0, -1):
            many = sum(count[step::step])
            if many > 1:
                pairs[step] = many * (many - 1) // 2 - sum(pairs[2 * step :: step])
        return pairs[1] if high else 0
