from collections import Counter


class Solution:
    def trios(self, boxes):
        having = Counter(boxes)
        for tool in range(15):
            bit = 1 << tool
            for tools, count in list(having.items()):
                if tools & bit:
                    having[tools ^ bit] += count
        return sum(
            (c * (c - 1) * (c - 2) // 6) * (-1 if tools.bit_count() & 1 else 1) for tools, c in having.items() if c > 2
        )
