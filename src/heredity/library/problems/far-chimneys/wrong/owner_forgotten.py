class Solution:
    def longestWalk(self, chimneys):
        sums, differences = [x + y for x, y, _ in chimneys], [x - y for x, y, _ in chimneys]
        return max(max(sums) - min(sums), max(differences) - min(differences))
