class Solution:
    def coins(self, skills):
        count = len(skills)
        parent = list(range(count))

        def find(one):
            while parent[one] != one:
                parent[one] = parent[parent[one]]
                one = parent[one]
            return one

        for i in range(count):
            if skills[i] == skills[i - 1]:
                parent[find(i)] = find((i - 1) % count)
        below = {}
        for i in range(count):
            for j in ((i - 1) % count, (i + 1) % count):
                if skills[j] < skills[i]:
                    below.setdefault(find(i), []).append(find(j))
        coins = {}
        for i in sorted(range(count), key=skills.__getitem__):
            flat = find(i)
            if flat not in coins:
                coins[flat] = 1 + max((coins[one] for one in below.get(flat, [])), default=0)
        return sum(coins[find(i)] for i in range(count))
