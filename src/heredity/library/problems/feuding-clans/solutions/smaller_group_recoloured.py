class Solution:
    def lie(self, count, sayings):
        group, clan = list(range(count)), [0] * count
        members = [[a] for a in range(count)]
        for number, (a, b, apart) in enumerate(sayings):
            if group[a] == group[b]:
                if clan[a] ^ clan[b] != apart:
                    return number
                continue
            if len(members[group[a]]) > len(members[group[b]]):
                a, b = b, a
            turn, to = clan[a] ^ clan[b] ^ apart, group[b]
            moved = members[group[a]]
            for c in moved:
                group[c] = to
                clan[c] ^= turn
            members[to] += moved
        return -1
