class Solution:
    def withView(self, houses, clear):
        return [
            place
            for place, house in enumerate(houses)
            if place == len(houses) - 1 or house - houses[place + 1] >= clear
        ]
