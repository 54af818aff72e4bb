from itertools import accumulate


class Solution:
    def payable(self, tolls, coin, least):
        number = {}
        codes = [number.setdefault(total % coin, len(number)) for total in accumulate(tolls, initial=0)]
        seen = [0] * len(number)
        answer = 0
        for stop in range(least, len(codes)):
            seen[codes[stop - least]] += 1
            answer += seen[codes[stop]]
        return answer
