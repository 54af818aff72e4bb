from itertools import accumulate


class Solution:
    def payable(self, tolls, coin, least):
        places = {}
        for place, total in enumerate(accumulate(tolls, initial=0)):
            places.setdefault(total % coin, []).append(place)
        answer = 0
        for at in places.values():
            left = 0
            for place in at:
                while at[left] <= place - least:
                    left += 1
                answer += left
        return answer
