class Solution:
    def lie(self, count, sayings):
        above, other = list(range(count)), [0] * count
        for number, (a, b, apart) in enumerate(sayings):
            while above[a] != a:
                up = above[a]
                other[a] ^= other[up]
                above[a] = above[up]
                apart ^= other[a]
                a = above[a]
            while above[b] != b:
                up = above[b]
                other[b] ^= other[up]
                above[b] = above[up]
                apart ^= other[b]
                b = above[b]
            if a != b:
                above[a], other[a] = b, apart
            elif apart:
                return number
        return -1
