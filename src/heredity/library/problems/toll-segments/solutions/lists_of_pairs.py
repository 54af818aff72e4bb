from itertools import accumulate


class Solution:
    def payable(self, tolls, coin, least):
        pairs = sorted((total % coin, place) for place, total in enumerate(accumulate(tolls, initial=0)))
        answer, start, left = 0, 0, 0
        for right, (rest, place) in enumerate(pairs):
            if pairs[start][0] != rest:
                start = left = right
            while left < right and pairs[left][1] + least <= place:
                left += 1
            answer += left - start
        return answer
