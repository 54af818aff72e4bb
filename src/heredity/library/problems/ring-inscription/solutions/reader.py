class Ring:
    def __init__(self, text):
        self.text, self.size = text, len(text)

    def __getitem__(self, place):
        return self.text[place - self.size if place >= self.size else place]

    def read(self, begin):
        return self.text[begin:] + self.text[:begin]

    def begin(self):
        best, other = 0, 1
        while other < self.size:
            same = 0
            while same < self.size and self[best + same] == self[other + same]:
                same += 1
            if same == self.size:
                break
            if self[other + same] < self[best + same]:
                best, other = other, max(other, best + same) + 1
            else:
                other += same + 1
        return best


class Solution:
    def read(self, ring):
        rings = Ring(ring), Ring("".join(reversed(ring)))
        return min(one.read(one.begin()) for one in rings)
