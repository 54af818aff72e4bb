from bisect import bisect_right


class Solution:
    def leaving(self, buckets):
        needs, home = [], []
        for person, needed in enumerate(buckets):
            place = bisect_right(needs, needed)
            needs.insert(place, needed)
            home.insert(place, person)
        return home
