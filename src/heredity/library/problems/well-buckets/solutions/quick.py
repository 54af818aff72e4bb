class Solution:
    def leaving(self, buckets):
        def quick(people):
            if len(people) < 2:
                return people
            pivot = buckets[people[len(people) // 2]]
            less = [person for person in people if buckets[person] < pivot]
            same = [person for person in people if buckets[person] == pivot]
            more = [person for person in people if buckets[person] > pivot]
            return quick(less) + same + quick(more)

        return quick(list(range(len(buckets))))
