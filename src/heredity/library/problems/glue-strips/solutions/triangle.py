class Solution:
    def leastGlue(self, widths):
        count = len(widths)
        glue = [[0] * count]
        wide = [list(widths)]
        for length in range(1, count):
            row, total = [], []
            for start in range(count - length):
                total.append(wide[length - 1][start] + widths[start + length])
                options = []
                for left in range(length):
                    right, other = length - 1 - left, start + left + 1
                    options.append(glue[left][start] + glue[right][other] + max(wide[left][start], wide[right][other]))
                row.append(min(options))
            glue.append(row)
            wide.append(total)
        return glue[-1][0]
