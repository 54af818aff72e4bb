class Solution:
    def twoGates(self, tolls, purse):
        places = {toll: place for place, toll in enumerate(tolls)}
        for first, toll in enumerate(tolls):
            if places.get(purse - toll, first) > first:
                return [first, places[purse - toll]]
        return [-1, -1]
