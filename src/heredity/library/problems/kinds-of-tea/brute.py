class Solution:
    def tastings(self, teas, low, high):
        count = len(teas)
        return sum(low <= len(set(teas[i:j])) <= high for i in range(count) for j in range(i + 1, count + 1))
