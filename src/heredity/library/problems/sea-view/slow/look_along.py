class Solution:
    def withView(self, houses, clear):
        return [
            place
            for place, house in enumerate(houses)
            if place + 1 == len(houses) or max(houses[place + 1 :]) <= house - clear
        ]
