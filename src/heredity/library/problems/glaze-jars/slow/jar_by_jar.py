class Solution:
    def expectedJars(self, chances):
        states, opened, whole = {0: 1.0}, 0.0, (1 << len(chances)) - 1
        empty = 1 - sum(chances)
        while (open_share := sum(states.values())) > 1e-12:
            opened += open_share
            following = {}
            for found, share in states.items():
                following[found] = following.get(found, 0.0) + share * empty
                for i, chance in enumerate(chances):
                    after = found | 1 << i
                    if after != whole:
                        following[after] = following.get(after, 0.0) + share * chance
            states = following
        return opened
