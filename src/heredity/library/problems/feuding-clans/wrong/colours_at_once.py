class Solution:
    def lie(self, count, sayings):
        clan = [None] * count
        for number, (a, b, apart) in enumerate(sayings):
            if clan[a] is None and clan[b] is None:
                clan[a] = 0
            if clan[a] is None:
                clan[a] = clan[b] ^ apart
            elif clan[b] is None:
                clan[b] = clan[a] ^ apart
            if clan[a] ^ clan[b] != apart:
                return number
        return -1
