class Solution:
    def latestArrival(self, towns, roads, start):
        leaving = [[] for _ in range(towns)]
        for a, b, hours in roads:
            leaving[a].append((b, hours))
        # Times never go back, so they are kept by the highest bit in which they differ from the present.
        buckets = [[] for _ in range(64)]
        buckets[0].append((0, start))
        now, waiting, reached = 0, 1, 0
        done = [False] * towns
        while waiting:
            if not buckets[0]:
                place = 1
                while not buckets[place]:
                    place += 1
                now = min(buckets[place])[0]
                for one in buckets[place]:
                    buckets[(one[0] ^ now).bit_length()].append(one)
                buckets[place] = []
            for time, town in buckets[0]:
                if not done[town]:
                    done[town] = True
                    reached += 1
                    last = time
                    for other, hours in leaving[town]:
                        if not done[other]:
                            buckets[(time + hours ^ now).bit_length()].append((time + hours, other))
                            waiting += 1
                waiting -= 1
            buckets[0] = []
        return last if reached == towns else -1
