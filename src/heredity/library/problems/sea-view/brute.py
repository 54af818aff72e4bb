class Solution:
    def withView(self, houses, clear):
        return [
            place for place, house in enumerate(houses) if all(house - other >= clear for other in houses[place + 1 :])
        ]
