from itertools import accumulate


class Solution:
    def withView(self, houses, clear):
        behind = list(accumulate(reversed(houses), max))[::-1]
        return [
            place
            for place, house in enumerate(houses)
            if place + 1 == len(houses) or house >= behind[place + 1] + clear
        ]
