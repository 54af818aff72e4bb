from itertools import combinations


class Solution:
    def bestTune(self, first, second):
        def tunes(song):
            for size in range(len(song) + 1):
                for places in combinations(range(len(song)), size):
                    yield "".join(song[place] for place in places), places

        best, by_text = 0, {}
        for text, places in tunes(second):
            by_text.setdefault(text, []).append(places)
        for text, places in tunes(first):
            for others in by_text.get(text, []):
                steps = zip(places, places[1:], others, others[1:])
                best = max(best, len(text) + sum(b - a == 1 and d - c == 1 for a, b, c, d in steps))
        return best
