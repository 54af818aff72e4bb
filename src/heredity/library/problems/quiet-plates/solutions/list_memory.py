class Solution:
    def quietPlates(self, low, high, base):
        memory = [[[-1] * base for _ in range(11)] for _ in range(17)]

        def endings(length, last, rest):
            if length == 0:
                return int(rest == 0)
            if memory[length][last][rest] < 0:
                memory[length][last][rest] = sum(
                    endings(length - 1, d, (rest + d) % base) for d in range(10) if d != last
                )
            return memory[length][last][rest]

        def below(number, last, rest, length):
            """Endings of a length after some digits that are below a number."""
            if length == 0:
                return 0
            unit = 10 ** (length - 1)
            top, left = divmod(number, unit)
            total = sum(endings(length - 1, d, (rest + d) % base) for d in range(last == 10, top) if d != last)
            return total if top == last else total + below(left, top, (rest + top) % base, length - 1)

        def count(number):
            size = len(str(number))
            whole = sum(endings(length - 1, d, d % base) for length in range(1, size) for d in range(1, 10))
            return whole + below(number, 10, 0, size)

        return count(high + 1) - count(low)
