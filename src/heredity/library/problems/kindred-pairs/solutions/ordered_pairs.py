class Solution:
    def kindredPairs(self, numbers, measure):
        high = 100_000 // measure
        count = [0] * (high + 1)
        for number in numbers:
            whole, rest = divmod(number, measure)
            if not rest:
                count[whole] += 1
        squares = [0] * (high + 1)
        for step in range(high, 0, -1):
            squares[step] = sum(count[step::step]) ** 2 - sum(squares[2 * step :: step])
        return (squares[1] - count[1]) // 2
