class Solution:
    def crossings(self, pegs, reach):
        # Both halves in descending order: for each peg of the right one, those far enough above it are a head of the left one.
        work, total = list(pegs), 0
        width = 1
        while width < len(work):
            for start in range(0, len(work) - width, 2 * width):
                left, right = work[start : start + width], work[start + width : start + 2 * width]
                place, size = 0, len(left)
                for peg in right:
                    limit = peg + reach
                    while place < size and left[place] >= limit:
                        place += 1
                    total += place
                work[start : start + 2 * width] = sorted(left + right, reverse=True)
            width *= 2
        return total
