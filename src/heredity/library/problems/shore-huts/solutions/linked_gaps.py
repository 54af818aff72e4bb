class Solution:
    def firstHuts(self, heights):
        # Places are taken out from the highest down; then the neighbours left are the nearest lower ones.
        count = len(heights)
        before, after = list(range(-1, count + 1)), list(range(1, count + 3))
        best = [(-(10**10), 0)] * (count + 2)
        for place in sorted(range(1, count + 1), key=lambda one: (-heights[one - 1], -one)):
            left, right = before[place], after[place]
            after[left], before[right] = right, left
            best[right - left - 1] = max(best[right - left - 1], (heights[place - 1], -left))
        for length in range(count, 0, -1):
            best[length] = max(best[length], best[length + 1])
        return [-start for _, start in best[1 : count + 1]]
