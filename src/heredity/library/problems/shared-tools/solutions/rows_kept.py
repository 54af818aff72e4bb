class Solution:
    def trios(self, boxes):
        rows = [[0] * (1 << 15)]
        for box in boxes:
            rows[0][box] += 1
        # A row for each tool that was decided; all of them are kept.
        for tool in range(15):
            last, bit = rows[-1], 1 << tool
            rows.append([one if i & bit else one + last[i | bit] for i, one in enumerate(last)])
        total = 0
        for i, c in enumerate(rows[-1]):
            total += (1 - 2 * (i.bit_count() % 2)) * c * (c - 1) * (c - 2)
        return total // 6
