class Solution:
    def coins(self, skills):
        count = len(skills)
        ring = skills * 3
        up, down = [1] * len(ring), [1] * len(ring)
        for i in range(1, len(ring)):
            if ring[i] > ring[i - 1]:
                up[i] = up[i - 1] + 1
            elif ring[i] == ring[i - 1]:
                up[i] = up[i - 1]
        for i in range(len(ring) - 2, -1, -1):
            if ring[i] > ring[i + 1]:
                down[i] = down[i + 1] + 1
            elif ring[i] == ring[i + 1]:
                down[i] = down[i + 1]
        return sum(max(up[i], down[i]) for i in range(count, 2 * count))
