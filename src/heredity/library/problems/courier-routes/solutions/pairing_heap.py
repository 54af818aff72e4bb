class Solution:
    def latestArrival(self, towns, roads, start):
        leaving = [[] for _ in range(towns)]
        for a, b, hours in roads:
            leaving[a].append((hours, b))

        def merged(a, b):
            if b[0] < a[0]:
                a, b = b, a
            a[2].append(b)
            return a

        root, done, last, left = (0, start, []), [False] * towns, 0, towns
        while root and left:
            time, town, heaps = root
            if not done[town]:
                done[town], last, left = True, time, left - 1
                heaps += [(time + hours, other, []) for hours, other in leaving[town] if not done[other]]
            while len(heaps) > 1:
                pairs = [merged(a, b) for a, b in zip(heaps[::2], heaps[1::2])]
                heaps = pairs + heaps[-1:] if len(heaps) % 2 else pairs
            root = heaps[0] if heaps else None
        return -1 if left else last
