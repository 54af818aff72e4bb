class Solution:
    def leaving(self, buckets):
        by_need = {needed: person for person, needed in enumerate(buckets)}
        return [by_need[needed] for needed in sorted(by_need)]
