class Solution:
    def farthest(self, roads, inns):
        count = len(roads) + 1
        far = [[0 if a == b else 10**18 for b in range(count)] for a in range(count)]
        for a, b, minutes in roads:
            far[a][b] = far[b][a] = minutes
        for c in range(count):
            for a in range(count):
                for b in range(count):
                    far[a][b] = min(far[a][b], far[a][c] + far[c][b])
        return [max(row[inn] for inn in inns) for row in far]
