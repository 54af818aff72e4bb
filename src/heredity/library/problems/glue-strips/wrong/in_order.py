class Solution:
    def leastGlue(self, widths):
        def along(order):
            total = wide = 0
            for width in order:
                total += max(wide, width) if wide else 0
                wide += width
            return total

        return min(along(widths), along(widths[::-1]))
