from functools import cache


class Solution:
    def furnishings(self, rows, columns, pillars, stools):
        closed = [sum({1 << row for row, c in pillars if c == column}) for column in range(columns)]
        closed.append((1 << rows) - 1)

        @cache
        def fills(taken):
            """How a column can be filled: what it takes of the next one, stools, ways."""
            found = {}

            def fill(row, ahead, used, last):
                if row == rows:
                    found[ahead, used] = found.get((ahead, used), 0) + 1
                    return
                if taken >> row & 1:
                    fill(row + 1, ahead, used, False)
                    return
                if used < stools:
                    fill(row + 1, ahead, used + 1, False)
                fill(row + 1, ahead | 1 << row, used, False)
                if row + 1 < rows and not taken >> row + 1 & 1:
                    fill(row + 2, ahead, used, False)

            fill(0, 0, 0, False)
            return list(found.items())

        layer = {(closed[0], 0): 1}
        for column in range(columns):
            following = {}
            for (taken, used), count in layer.items():
                for (ahead, more), ways in fills(taken):
                    if used + more <= stools and not ahead & closed[column + 1]:
                        key = (ahead | closed[column + 1], used + more)
                        following[key] = (following.get(key, 0) + count * ways) % 1_000_000_007
            layer = following
        return layer.get(((1 << rows) - 1, stools), 0)
