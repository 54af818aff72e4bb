class Solution:
    def climb(self, heights):
        # The answer's bits from the highest: can it be done without this one?
        rows, columns = len(heights), len(heights[0])
        flat = [height for row in heights for height in row]
        size = rows * columns

        def crosses(most):
            seen = bytearray(size)
            layer = list(range(0, size, columns))
            for at in layer:
                seen[at] = 1
            while layer:
                ahead = []
                for at in layer:
                    column, here = at % columns, flat[at]
                    if column == columns - 1:
                        return True
                    for other in (at + 1, at - 1 if column else -1, at - columns, at + columns):
                        if 0 <= other < size and not seen[other] and -most <= flat[other] - here <= most:
                            seen[other] = 1
                            ahead.append(other)
                layer = ahead
            return False

        answer = (1 << 30) - 1
        for bit in range(29, -1, -1):
            if crosses(answer ^ 1 << bit):
                answer ^= 1 << bit
        return answer
