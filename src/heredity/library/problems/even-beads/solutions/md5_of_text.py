from hashlib import md5


class Solution:
    def evenStretches(self, beads):
        states, state = [0], 0
        for bead in beads:
            state ^= int(md5(b"%d" % bead).hexdigest()[:16], 16)
            states.append(state)
        places = {}
        for place, state in enumerate(states):
            places.setdefault(state, []).append(place)
        return sum(len(group) * (len(group) - 1) // 2 for group in places.values())
