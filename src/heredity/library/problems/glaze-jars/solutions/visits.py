class Solution:
    def expectedJars(self, chances):
        count = len(chances)
        visits = [0.0] * (1 << count)
        visits[0], jars = 1.0, 0.0
        for found in range((1 << count) - 1):
            missing = [i for i in range(count) if not found >> i & 1]
            left = sum(chances[i] for i in missing)
            jars += visits[found] / left
            for i in missing:
                visits[found | 1 << i] += visits[found] * chances[i] / left
        return jars
