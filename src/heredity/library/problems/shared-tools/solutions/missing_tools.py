class Solution:
    def trios(self, boxes):
        # What is missing must make up all tools: sets of missing tools within a set are counted.
        size = 1 << 15
        within = [0] * size
        for box in boxes:
            within[size - 1 - box] += 1
        for tool in range(15):
            bit = 1 << tool
            within = [one + within[i ^ bit] if i & bit else one for i, one in enumerate(within)]
        total = 0
        for i, c in enumerate(within):
            trios = c * (c - 1) * (c - 2) // 6
            total += trios if i.bit_count() % 2 else -trios
        return total
