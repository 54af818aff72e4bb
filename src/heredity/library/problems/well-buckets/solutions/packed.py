class Solution:
    def leaving(self, buckets):
        count = len(buckets)
        return [packed % count for packed in sorted(needed * count + person for person, needed in enumerate(buckets))]
