from itertools import accumulate


class Solution:
    def leaving(self, buckets):
        levels = sorted(set(buckets))
        rank = {needed: place for place, needed in enumerate(levels)}
        count = [0] * (len(levels) + 1)
        for needed in buckets:
            count[rank[needed] + 1] += 1
        start = list(accumulate(count))
        home = [0] * len(buckets)
        for person, needed in enumerate(buckets):
            place = rank[needed]
            home[start[place]] = person
            start[place] += 1
        return home
