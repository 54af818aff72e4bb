class Solution:
    def leaving(self, buckets):
        return [person for _, person in sorted((needed, person) for person, needed in enumerate(buckets))]
