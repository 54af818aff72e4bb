from bisect import bisect_left


class Solution:
    def kindredPairs(self, numbers, measure):
        order = sorted(number // measure for number in numbers if number % measure == 0)
        high = order[-1] if order else 1
        starts = [bisect_left(order, value) for value in range(high + 2)]
        count = [b - a for a, b in zip(starts, starts[1:])]
        squares = [0] * (high + 1)
        for step in range(high, 0, -1):
            many = sum(count[step::step])
            if many > 1:
                squares[step] = many * (many - 1) - sum(squares[2 * step :: step])
        return squares[1] // 2
