class Solution:
    def trios(self, boxes):
        # Rows by the upper 7 tools, columns by the lower 8.
        table = [[0] * 256 for _ in range(128)]
        for box in boxes:
            table[box >> 8][box & 255] += 1
        for row in table:
            for tool in range(8):
                bit = 1 << tool
                for i in range(256):
                    if not i & bit:
                        row[i] += row[i | bit]
        for tool in range(7):
            bit = 1 << tool
            for i in range(128):
                if not i & bit:
                    table[i] = [a + b for a, b in zip(table[i], table[i | bit])]
        total = 0
        for i, row in enumerate(table):
            ways = [c * (c - 1) * (c - 2) for c in row]
            part = sum(-way if j.bit_count() & 1 else way for j, way in enumerate(ways))
            total += -part if i.bit_count() & 1 else part
        return total // 6
