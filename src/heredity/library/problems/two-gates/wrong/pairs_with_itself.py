class Solution:
    def twoGates(self, tolls, purse):
        places = {toll: place for place, toll in reversed(list(enumerate(tolls)))}
        for first, toll in enumerate(tolls):
            if purse - toll in places and places[purse - toll] >= first:
                return [first, places[purse - toll]]
        return [-1, -1]
