from functools import cache


class Solution:
    def expectedJars(self, chances):
        @cache
        def jars(missing):
            if missing == 0:
                return 0.0
            inside = [i for i in range(len(chances)) if missing >> i & 1]
            return (1 + sum(chances[i] * jars(missing ^ 1 << i) for i in inside)) / sum(chances[i] for i in inside)

        return jars((1 << len(chances)) - 1)
