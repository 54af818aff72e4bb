class Solution:
    def trios(self, boxes):
        counts = [0] * (1 << 15)
        for box in boxes:
            counts[box] += 1
        for bit in range(15):
            for tools in range(1 << 15):
                if not tools >> bit & 1:
                    counts[tools] += counts[tools | 1 << bit]
        pairs = sum((-1) ** tools.bit_count() * (count * (count - 1) // 2) for tools, count in enumerate(counts))
        return pairs * (len(boxes) - 2) // 3
