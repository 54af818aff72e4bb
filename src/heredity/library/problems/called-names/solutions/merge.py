class Solution:
    def answering(self, names, calls):
        names = sorted(names)
        ends = sorted(
            [(call, 0, at) for at, call in enumerate(calls)] + [(call + "~", 1, at) for at, call in enumerate(calls)]
        )
        found, place = [0] * len(calls), 0
        for text, last, at in ends:
            while place < len(names) and names[place] < text:
                place += 1
            found[at] += place if last else -place
        return found
