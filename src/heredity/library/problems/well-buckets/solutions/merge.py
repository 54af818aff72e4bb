class Solution:
    def leaving(self, buckets):
        def merged(people):
            if len(people) < 2:
                return people
            half = len(people) // 2
            left, right = merged(people[:half]), merged(people[half:])
            out, j = [], 0
            for person in left:
                while j < len(right) and buckets[right[j]] < buckets[person]:
                    out.append(right[j])
                    j += 1
                out.append(person)
            return out + right[j:]

        return merged(list(range(len(buckets))))
