from bisect import bisect_left, bisect_right
from itertools import accumulate


class Solution:
    def heaviest(self, crossings):
        entering = sorted((enter, weight) for enter, _, weight in crossings)
        leaving = sorted((leave, weight) for _, leave, weight in crossings)
        come = [0, *accumulate(weight for _, weight in entering)]
        gone = [0, *accumulate(weight for _, weight in leaving)]
        enters, leaves = [time for time, _ in entering], [time for time, _ in leaving]

        def load(time):
            return come[bisect_right(enters, time)] - gone[bisect_left(leaves, time)]

        first = max(dict.fromkeys(enters), key=load)
        return [first, load(first)]
