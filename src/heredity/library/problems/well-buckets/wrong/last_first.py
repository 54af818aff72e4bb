class Solution:
    def leaving(self, buckets):
        return sorted(range(len(buckets)), key=lambda person: (buckets[person], -person))
