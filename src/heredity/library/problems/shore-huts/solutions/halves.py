class Solution:
    def firstHuts(self, heights):
        count = len(heights)
        best = [(-(10**10), 0)] * (count + 1)

        def note(length, height, start):
            if (height, -start) > best[length]:
                best[length] = height, -start

        def solve(low, high):
            if high - low == 1:
                note(1, heights[low], low)
                return
            middle = (low + high) // 2
            # Widened from the middle, always to the higher side; noted where it has to go down.
            start, stop, lowest = middle - 1, middle + 1, min(heights[middle - 1], heights[middle])
            while True:
                while start > low and heights[start - 1] >= lowest:
                    start -= 1
                while stop < high and heights[stop] >= lowest:
                    stop += 1
                note(stop - start, lowest, start)
                left = heights[start - 1] if start > low else -(10**10)
                right = heights[stop] if stop < high else -(10**10)
                if max(left, right) == -(10**10):
                    break
                lowest = max(left, right)
            solve(low, middle)
            solve(middle, high)

        if count > 1:
            solve(0, count)
        else:
            note(1, heights[0], 0)
        for length in range(count - 1, 0, -1):
            best[length] = max(best[length], best[length + 1])
        return [-start for _, start in best[1:]]
