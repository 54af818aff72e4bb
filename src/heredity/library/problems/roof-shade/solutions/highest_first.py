from bisect import bisect_left, insort


class Solution:
    def higher(self, roofs):
        levels = {}
        for place, roof in enumerate(roofs):
            levels.setdefault(roof, []).append(place)
        answer, seen = [-1] * len(roofs), []
        for roof in sorted(levels, reverse=True):
            for place in levels[roof]:
                at = bisect_left(seen, place)
                near = seen[max(0, at - 1) : at + 1]
                answer[place] = min(near, key=lambda other: abs(other - place), default=-1)
            for place in levels[roof]:
                insort(seen, place)
        return answer
