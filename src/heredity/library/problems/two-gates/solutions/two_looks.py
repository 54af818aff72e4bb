class Solution:
    def twoGates(self, tolls, purse):
        last = {toll: place for place, toll in enumerate(tolls)}
        for place, toll in enumerate(tolls):
            if last.get(purse - toll, -1) > place:
                return [place, tolls.index(purse - toll, place + 1)]
        return [-1, -1]
