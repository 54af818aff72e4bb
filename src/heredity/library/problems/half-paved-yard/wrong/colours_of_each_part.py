class Solution:
    def slabs(self, yard):
        rows, columns = len(yard), len(yard[0])
        seen, found = set(), 0
        for r in range(rows):
            for c in range(columns):
                if yard[r][c] == "#" or (r, c) in seen:
                    continue
                seen.add((r, c))
                stack, counts = [(r, c)], [0, 0]
                while stack:
                    a, b = stack.pop()
                    counts[(a + b) % 2] += 1
                    for i, j in ((a - 1, b), (a + 1, b), (a, b - 1), (a, b + 1)):
                        if 0 <= i < rows and 0 <= j < columns and yard[i][j] == "." and (i, j) not in seen:
                            seen.add((i, j))
                            stack.append((i, j))
                found += min(counts)
        return found
