class Solution:
    def twoGates(self, tolls, purse):
        places = {}
        for place in range(len(tolls) - 1, -1, -1):
            places.setdefault(tolls[place], []).append(place)
        for first, toll in enumerate(tolls):
            places[toll].pop()
            others = places.get(purse - toll)
            if others:
                return [first, others[-1]]
        return [-1, -1]
