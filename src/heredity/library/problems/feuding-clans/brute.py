from itertools import product


class Solution:
    def lie(self, count, sayings):
        ways = list(product((0, 1), repeat=count))
        for number, (a, b, apart) in enumerate(sayings):
            ways = [way for way in ways if way[a] ^ way[b] == apart]
            if not ways:
                return number
        return -1
