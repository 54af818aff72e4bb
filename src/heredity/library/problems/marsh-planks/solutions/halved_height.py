class Solution:
    def climb(self, heights):
        rows, columns = len(heights), len(heights[0])

        def crosses(most):
            seen = {(row, 0) for row in range(rows)}
            stack = list(seen)
            while stack:
                row, column = stack.pop()
                if column == columns - 1:
                    return True
                here = heights[row][column]
                for r, c in ((row - 1, column), (row, column - 1), (row + 1, column), (row, column + 1)):
                    if 0 <= r < rows and 0 <= c < columns and (r, c) not in seen and abs(heights[r][c] - here) <= most:
                        seen.add((r, c))
                        stack.append((r, c))
            return False

        low, high = 0, max(map(max, heights)) - min(map(min, heights))
        while low < high:
            middle = (low + high) // 2
            if crosses(middle):
                high = middle
            else:
                low = middle + 1
        return low
