class Solution:
    def leaving(self, buckets):
        groups = {}
        for person, needed in enumerate(buckets):
            groups.setdefault(needed, []).append(person)
        return [person for needed in sorted(groups) for person in groups[needed]]
