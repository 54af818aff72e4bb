class Solution:
    def trios(self, boxes):
        size = 1 << 15
        having = [0] * size
        for box in boxes:
            having[box] += 1
        # having[m] becomes the number of boxes with all tools of m.
        step = 1
        while step < size:
            for start in range(0, size, 2 * step):
                middle = start + step
                for place in range(start, middle):
                    having[place] += having[place + step]
            step *= 2
        total = 0
        for tools, count in enumerate(having):
            if count > 2:
                ways = count * (count - 1) * (count - 2)
                total += -ways if tools.bit_count() & 1 else ways
        return total // 6
