from bisect import bisect_left


class Solution:
    def arrival(self, days, length):
        sunny = [day for day, letter in enumerate(days) if letter == "S"]
        rainy = [day for day, letter in enumerate(days) if letter == "R"]

        def count(places, day):
            return bisect_left(places, day + length) - bisect_left(places, day)

        stays = range(len(days) - length + 1)
        return min(stays, key=lambda day: (-count(sunny, day), count(rainy, day)))
