from collections import Counter


class Solution:
    def kindredPairs(self, numbers, measure):
        groups = Counter(number for number in numbers if number % measure == 0)
        top = max(groups, default=0)
        pairs = {}
        for step in range(top, measure - 1, -measure):
            if step % measure:
                break
            many = sum(groups.get(multiple, 0) for multiple in range(step, top + 1, step))
            found = many * (many - 1) // 2
            if found:
                pairs[step] = found - sum(pairs.get(multiple, 0) for multiple in range(2 * step, top + 1, step))
        return pairs.get(measure, 0)
