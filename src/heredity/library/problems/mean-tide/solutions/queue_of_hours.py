from collections import deque


class Solution:
    def highestMean(self, levels, hours):
        window, total, best = deque(), 0.0, float("-inf")
        for level in levels:
            window.append(level)
            total += level
            if len(window) > hours:
                total -= window.popleft()
            if len(window) == hours and total > best:
                best = total
        return best / hours
