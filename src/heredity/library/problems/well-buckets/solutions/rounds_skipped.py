class Solution:
    def leaving(self, buckets):
        line = list(range(len(buckets)))
        home = []
        ordered = sorted(set(buckets))
        if len(ordered) > 500:
            return sorted(line, key=lambda person: (buckets[person], person))
        for needed in ordered:
            home += [person for person in line if buckets[person] == needed]
            line = [person for person in line if buckets[person] > needed]
        return home
