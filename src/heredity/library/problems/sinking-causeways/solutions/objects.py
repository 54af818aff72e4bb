class Island:
    def __init__(self):
        self.above, self.size = self, 1

    def root(self):
        island = self
        while island.above is not island:
            island.above = island.above.above
            island = island.above
        return island

    def join(self, other):
        one, other = self.root(), other.root()
        if one is not other:
            if one.size < other.size:
                one, other = other, one
            other.above = one
            one.size += other.size


class Solution:
    def reachable(self, count, causeways, events):
        islands = [Island() for _ in range(count)]
        there, steps = [True] * len(causeways), []
        for kind, i in events:
            if kind:
                steps.append((True, i))
            elif there[i]:
                there[i] = False
                steps.append((False, i))
        for stays, (a, b) in zip(there, causeways):
            if stays:
                islands[a].join(islands[b])
        answers = []
        while steps:
            asks, i = steps.pop()
            if asks:
                answers.append(islands[i].root().size)
            else:
                a, b = causeways[i]
                islands[a].join(islands[b])
        return answers[::-1]
