class Solution:
    def quietPlates(self, low, high, base):
        def upto(number):
            text = str(number)
            states, tight = {}, (-1, 0)
            for place, char in enumerate(text):
                top, following = int(char), {}
                for (last, rest), ways in states.items():
                    for d in range(10):
                        if d != last:
                            key = (d, (rest + d) % base)
                            following[key] = following.get(key, 0) + ways
                if place:
                    for d in range(1, 10):
                        following[d, d % base] = following.get((d, d % base), 0) + 1
                if tight:
                    last, rest = tight
                    for d in range(place == 0, top):
                        if d != last:
                            key = (d, (rest + d) % base)
                            following[key] = following.get(key, 0) + 1
                    tight = (top, (rest + top) % base) if top != last else None
                states = following
            return sum(ways for (_, rest), ways in states.items() if rest == 0) + (tight is not None and tight[1] == 0)

        return upto(high) - (upto(low - 1) if low > 1 else 0)
