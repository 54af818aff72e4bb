class Solution:
    def leaving(self, buckets):
        home = sorted(zip(buckets, range(len(buckets))))
        return list(list(zip(*home))[1])
