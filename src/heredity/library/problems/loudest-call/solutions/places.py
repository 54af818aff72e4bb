class Solution:
    def loudest(self, calls):
        places = {}
        for place, call in enumerate(calls):
            places.setdefault(call, []).append(place)
        best = max(places.values(), key=lambda at: (len(at), -at[-1]))
        return calls[best[0]]
