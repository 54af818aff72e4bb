from functools import cache


class Solution:
    def winningKnocks(self, rows):
        @cache
        def value(row):
            reached = {value(left) ^ value(row - size - left) for size in (2, 3) for left in range(row - size + 1)}
            return next(number for number in range(row + 1) if number not in reached)

        for row in range(max(rows)):
            value(row)
        whole = 0
        for row in rows:
            whole ^= value(row)

        @cache
        def winning(row):
            goal = whole ^ value(row)
            return sum(
                value(left) ^ value(row - size - left) == goal for size in (2, 3) for left in range(row - size + 1)
            )

        return sum(map(winning, rows)) if whole else 0
