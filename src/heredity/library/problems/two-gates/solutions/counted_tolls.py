from collections import Counter


class Solution:
    def twoGates(self, tolls, purse):
        left = Counter(tolls)
        for place, toll in enumerate(tolls):
            left[toll] -= 1
            if left[purse - toll] > 0:
                second = next(i for i in range(place + 1, len(tolls)) if tolls[i] == purse - toll)
                return [place, second]
        return [-1, -1]
