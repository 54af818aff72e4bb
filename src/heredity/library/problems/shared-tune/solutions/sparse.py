class Solution:
    def bestTune(self, first, second):
        places = {}
        for j, note in enumerate(second):
            places.setdefault(note, []).append(j)
        best = [0] * (len(second) + 1)
        ended = {}
        for note in first:
            now = {}
            for j in places.get(note, ()):
                now[j] = 1 + max(best[j], ended.get(j - 1, -9) + 1)
            top = 0
            for j in range(len(second)):
                top = max(top, now.get(j, 0), best[j + 1])
                best[j + 1] = top
            ended = now
        return best[-1]
