class Solution:
    def longestWalk(self, chimneys):
        others = [one for one in chimneys if one[2] == 0]
        sums, gaps = [x + y for x, y, _ in others], [x - y for x, y, _ in others]
        low, high, left, right = min(sums), max(sums), min(gaps), max(gaps)
        return max(max(x + y - low, high - x - y, x - y - left, right - x + y) for x, y, owner in chimneys if owner)
