class Solution:
    def leaving(self, buckets):
        count = len(buckets)
        order = sorted(range(count - 1, -1, -1), key=lambda person: -buckets[person], reverse=False)
        return order[::-1]
