class Solution:
    def ledger(self, levels):
        count = len(levels)

        def tops(values):
            left, right = [0] * count, [0] * count
            for place in range(count):
                other = place - 1
                while other >= 0 and values[other] <= values[place]:
                    other = left[other]
                left[place] = other
            for place in range(count - 1, -1, -1):
                other = place + 1
                while other < count and values[other] < values[place]:
                    other = right[other]
                right[place] = other
            total = 0
            for place in range(count):
                a, b = place - left[place], right[place] - place
                total += values[place] * (a * b * (a + b) // 2)
            return total

        return tops(levels) - -tops([-level for level in levels])
