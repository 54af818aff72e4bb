from functools import cache


class Solution:
    def expectedJars(self, chances):
        @cache
        def jars(missing):
            if not missing:
                return 0.0
            total = 1.0
            for i in range(len(missing)):
                total += missing[i] * jars(missing[:i] + missing[i + 1 :])
            return total / sum(missing)

        return jars(tuple(sorted(chances)))
