from functools import cache


class Solution:
    def expectedJars(self, chances):
        @cache
        def jars(missing):
            left = sum(chances[i] for i in missing)
            return (1 + sum(chances[i] * jars(missing - {i}) for i in missing)) / left if missing else 0.0

        return jars(frozenset(range(len(chances))))
