class Solution:
    def leaving(self, buckets):
        return sorted(range(len(buckets)), key=buckets.__getitem__)
