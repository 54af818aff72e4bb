class Solution:
    def lie(self, count, sayings):
        above, foe = list(range(count)), [None] * count

        def find(a):
            while above[a] != a:
                above[a] = a = above[above[a]]
            return a

        def joined(a, b):
            if a is None or b is None:
                return b if a is None else a
            above[find(a)] = find(b)
            return find(b)

        for number, (a, b, apart) in enumerate(sayings):
            a, b = find(a), find(b)
            c, d = (None if foe[x] is None else find(foe[x]) for x in (a, b))
            if a == b if apart else c == b:
                return number
            one, two = (joined(a, d), joined(b, c)) if apart else (joined(a, b), joined(c, d))
            foe[one] = two
            if two is not None:
                foe[two] = one
        return -1
