class Solution:
    def expectedJars(self, chances):
        whole = (1 << len(chances)) - 1
        jars = [0.0] * (whole + 1)
        for found in range(whole - 1, -1, -1):
            total, ahead = 0.0, 1.0
            for i, chance in enumerate(chances):
                if not found >> i & 1:
                    total += chance
                    ahead += chance * jars[found | 1 << i]
            jars[found] = ahead / total
        return jars[0]
