class Solution:
    def coins(self, skills):
        start = skills.index(min(skills))
        ring = skills[start:] + skills[:start]
        up, down = [1] * len(ring), [1] * (len(ring) + 1)
        for i in range(1, len(ring)):
            if ring[i] > ring[i - 1]:
                up[i] = up[i - 1] + 1
        for i in range(len(ring) - 1, 0, -1):
            if ring[i] > ring[(i + 1) % len(ring)]:
                down[i] = down[i + 1] + 1
        return sum(map(max, up, down))
