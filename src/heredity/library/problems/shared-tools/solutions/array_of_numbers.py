from array import array


class Solution:
    def trios(self, boxes):
        having = array("q", bytes(8 << 15))
        for box in boxes:
            having[box] += 1
        for tool in range(15):
            bit = 1 << tool
            one = (1 << 15) - 1 - bit
            # All sets without the tool, from the largest down.
            rest = one
            while True:
                having[rest] += having[rest | bit]
                if not rest:
                    break
                rest = rest - 1 & one
        total = 0
        for tools in range(1 << 15):
            c = having[tools]
            if c > 2:
                total += (c * (c - 1) * (c - 2) // 6) * (1 - tools.bit_count() % 2 * 2)
        return total
