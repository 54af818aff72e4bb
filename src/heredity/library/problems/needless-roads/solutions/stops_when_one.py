class Solution:
    def needless(self, count, roads):
        above = [-1] * count

        def find(x):
            while above[x] >= 0:
                x = above[x]
            return x

        def union(a, b):
            a, b = find(a), find(b)
            if a == b:
                return False
            if above[a] > above[b]:
                a, b = b, a
            above[a] += above[b]
            above[b] = a
            return True

        found, groups = [], count
        for number, (a, b) in enumerate(roads):
            if groups == 1:
                return found + list(range(number, len(roads)))
            if union(a, b):
                groups -= 1
            else:
                found.append(number)
        return found
