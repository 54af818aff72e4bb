class Solution:
    def trios(self, boxes):
        size = 1 << 15
        having = [0] * size
        for box in boxes:
            having[box] += 1
        sign = [1]
        while len(sign) < size:
            sign += [-one for one in sign]
        step = 1
        while step < size:
            for start in range(0, size, 2 * step):
                without, within = slice(start, start + step), slice(start + step, start + 2 * step)
                having[without] = map(int.__add__, having[without], having[within])
            step *= 2
        return sum(s * c * (c - 1) * (c - 2) for s, c in zip(sign, having) if c > 2) // 6
