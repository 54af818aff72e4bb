from itertools import accumulate


class Solution:
    def arrival(self, days, length):
        sun = [0, *accumulate(letter == "S" for letter in days)]
        rain = [0, *accumulate(letter == "R" for letter in days)]
        stays = range(len(days) - length + 1)
        return min(stays, key=lambda day: (sun[day] - sun[day + length], rain[day + length] - rain[day]))
