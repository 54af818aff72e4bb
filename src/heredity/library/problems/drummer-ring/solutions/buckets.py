class Solution:
    def coins(self, skills):
        count = len(skills)
        ends = []
        start = next((i for i in range(count) if skills[i] != skills[i - 1]), None)
        if start is None:
            return count
        ring = skills[start:] + skills[:start]
        flats = []
        for skill in ring:
            if flats and flats[-1][0] == skill:
                flats[-1][1] += 1
            else:
                flats.append([skill, 1])
        by_skill = {}
        for place, (skill, _) in enumerate(flats):
            by_skill.setdefault(skill, []).append(place)
        ends = [0] * (len(flats) + 1)
        for skill in sorted(by_skill):
            for place in by_skill[skill]:
                left = ends[place - 1] if place else ends[len(flats) - 1]
                right = ends[place + 1] if place + 1 < len(flats) else ends[0]
                ends[place] = 1 + max(left, right)
        return sum(coin * length for coin, (_, length) in zip(ends, flats))
