class Solution:
    def waysUp(self, rungs):
        modulus = 1_000_000_007

        def times(one, other):
            full = [0] * 7
            for i, a in enumerate(one):
                for j, b in enumerate(other):
                    full[i + j] += a * b
            for i in (6, 5, 4):
                full[i - 1] += full[i]
                full[i - 4] += full[i]
            return [value % modulus for value in full[:4]]

        result = [1, 0, 0, 0]
        for bit in bin(rungs)[2:]:
            result = times(result, result)
            if bit == "1":
                result = times(result, [0, 1, 0, 0])
        return sum(a * b for a, b in zip(result, (1, 1, 1, 2))) % modulus
