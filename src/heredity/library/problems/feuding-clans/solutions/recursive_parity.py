class Solution:
    def lie(self, count, sayings):
        above, parity = list(range(count)), [0] * count

        def find(a):
            if above[a] == a:
                return a, 0
            root, more = find(above[a])
            above[a] = root
            parity[a] ^= more
            return root, parity[a]

        for number, (a, b, apart) in enumerate(sayings):
            (a, p), (b, q) = find(a), find(b)
            if a != b:
                above[a], parity[a] = b, p ^ q ^ apart
            elif p ^ q != apart:
                return number
        return -1
