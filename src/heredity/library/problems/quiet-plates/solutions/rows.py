class Solution:
    def quietPlates(self, low, high, base):
        def below(number):
            text = str(number)
            states, last, rest, alive, _total = [[0] * base for _ in range(10)], -1, 0, True, 0
            for place, char in enumerate(text):
                sums = [sum(row[r] for row in states) for r in range(base)]
                following = [[sums[(r - d) % base] - states[d][(r - d) % base] for r in range(base)] for d in range(10)]
                if place:
                    for d in range(1, 10):
                        following[d][d % base] += 1
                if alive:
                    for d in range(int(place == 0), int(char)):
                        if d != last:
                            following[d][(rest + d) % base] += 1
                    alive = int(char) != last
                    last, rest = int(char), rest + int(char)
                states = following
            return sum(row[0] for row in states)

        return below(high + 1) - below(low)
