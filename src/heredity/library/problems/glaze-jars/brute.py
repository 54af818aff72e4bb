class Solution:
    def expectedJars(self, chances):
        def jars(missing):
            if not missing:
                return 0.0
            ahead = sum(chance * jars(missing[:i] + missing[i + 1 :]) for i, chance in enumerate(missing))
            return (1 + ahead) / sum(missing)

        return jars(chances)
