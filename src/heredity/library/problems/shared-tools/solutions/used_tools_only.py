class Solution:
    def trios(self, boxes):
        # A tool that fewer than three boxes have parts nobody; the others are numbered anew.
        tools = [t for t in range(15) if sum(box >> t & 1 for box in boxes) > 2]
        size = 1 << len(tools)
        having = [0] * size
        for box in boxes:
            having[sum((box >> t & 1) << place for place, t in enumerate(tools))] += 1
        for place in range(len(tools)):
            bit = 1 << place
            for one in range(size):
                if one & bit:
                    having[one ^ bit] += having[one]
        parity = [0] * size
        total = 0
        for one in range(size):
            parity[one] = parity[one >> 1] ^ one & 1
            c = having[one]
            total += (c * (c - 1) * (c - 2) // 6) * (-1 if parity[one] else 1)
        return total
