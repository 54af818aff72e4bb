class Solution:
    def climb(self, heights):
        rows, columns = len(heights), len(heights[0])
        if columns == 1:
            return 0
        size, planks = rows * columns, []
        for row in range(rows):
            line = heights[row]
            for column in range(columns):
                at = row * columns + column
                if column + 1 < columns:
                    planks.append((abs(line[column] - line[column + 1]), at, at + 1))
                if row + 1 < rows:
                    planks.append((abs(line[column] - heights[row + 1][column]), at, at + columns))
        group = list(range(size))
        members = [[at] for at in range(size)]
        left, right = set(range(0, size, columns)), set(range(columns - 1, size, columns))
        starts, ends = [at in left for at in range(size)], [at in right for at in range(size)]
        for high, a, b in sorted(planks):
            a, b = group[a], group[b]
            if a == b:
                continue
            if len(members[a]) < len(members[b]):
                a, b = b, a
            for at in members[b]:
                group[at] = a
            members[a] += members[b]
            members[b] = []
            starts[a] |= starts[b]
            ends[a] |= ends[b]
            if starts[a] and ends[a]:
                return high
        return None
