class Solution:
    def coins(self, skills):
        count = len(skills)

        def climbs(step):
            """The most rises on a way down from each drummer in one direction."""
            known = [0] * count
            for first in range(count):
                way, place = [], first
                while not known[place]:
                    after = (place + step) % count
                    way.append(place)
                    known[place] = 1
                    if skills[after] > skills[place] or known[after]:
                        break
                    place = after
                for place in reversed(way):
                    after = (place + step) % count
                    if skills[place] >= skills[after]:
                        known[place] = known[after] + (skills[place] > skills[after])
            return known

        lowest = skills.index(min(skills))
        skills = skills[lowest:] + skills[:lowest]
        return sum(map(max, climbs(1), climbs(-1)))
