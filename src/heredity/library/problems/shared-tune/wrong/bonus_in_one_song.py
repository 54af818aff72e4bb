class Solution:
    def bestTune(self, first, second):
        def best(song, other):
            table = [[0] * (len(other) + 1) for _ in range(len(song) + 1)]
            for i, a in enumerate(song):
                for j, b in enumerate(other):
                    table[i + 1][j + 1] = max(table[i][j + 1], table[i + 1][j], table[i][j] + (a == b))
            return table[-1][-1]

        pairs = [[x + y for x, y in zip(song, song[1:])] for song in (first, second)]
        return best(first, second) + best(*pairs)
