class Solution:
    def kindredPairs(self, numbers, measure):
        size = 100_001
        count = [0] * size
        for number in numbers:
            count[number] += 1
        pairs = {}
        for step in range((size - 1) // measure * measure, 0, -measure):
            many = sum(count[step::step])
            pairs[step] = many * (many - 1) // 2
            if many > 1:
                pairs[step] -= sum(pairs[multiple] for multiple in range(2 * step, size, step))
        return pairs[measure]
