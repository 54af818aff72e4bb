class Solution:
    def firstHuts(self, heights):
        count = len(heights)
        parent, size, first = list(range(count)), [0] * count, list(range(count))

        def find(one):
            while parent[one] != one:
                parent[one] = parent[parent[one]]
                one = parent[one]
            return one

        best = [(-(10**10), 0)] * (count + 1)
        for place in sorted(range(count), key=heights.__getitem__, reverse=True):
            size[place] = 1
            for other in (place - 1, place + 1):
                if 0 <= other < count and size[other]:
                    a, b = find(place), find(other)
                    if size[a] < size[b]:
                        a, b = b, a
                    parent[b], first[a] = a, min(first[a], first[b])
                    size[a] += size[b]
            root = find(place)
            best[size[root]] = max(best[size[root]], (heights[place], -first[root]))
        for length in range(count - 1, 0, -1):
            best[length] = max(best[length], best[length + 1])
        return [-start for _, start in best[1:]]
