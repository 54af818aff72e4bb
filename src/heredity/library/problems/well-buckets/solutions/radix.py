class Solution:
    def leaving(self, buckets):
        order = list(range(len(buckets)))
        for shift in (0, 8, 16, 24):
            piles = [[] for _ in range(256)]
            for person in order:
                piles[buckets[person] >> shift & 255].append(person)
            order = [person for pile in piles for person in pile]
        return order
