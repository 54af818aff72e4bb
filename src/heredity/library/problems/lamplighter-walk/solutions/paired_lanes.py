class Solution:
    def walk(self, squares, lanes):
        # Pair the lane ends of every square; that makes rounds, and two rounds through one square become one by changing partners.
        ends = [[] for _ in range(squares)]
        for number, (a, b) in enumerate(lanes):
            ends[a].append(2 * number)
            ends[b].append(2 * number + 1)
        odd = [square for square in range(squares) if len(ends[square]) % 2]
        if len(odd) > 2:
            return []
        if odd:
            for square, end in zip(odd, (2 * len(lanes), 2 * len(lanes) + 1)):
                ends[square].append(end)
        count = len(lanes) + bool(odd)
        partner, above = [0] * (2 * count), list(range(count))

        def root(x):
            while above[x] != x:
                above[x] = above[above[x]]
                x = above[x]
            return x

        for own in ends:
            for one, other in zip(own[::2], own[1::2]):
                partner[one], partner[other] = other, one
                above[root(one >> 1)] = root(other >> 1)
        for own in ends:
            if not own:
                continue
            one = own[0]
            for other in own[2::2]:
                if root(one >> 1) != root(other >> 1):
                    above[root(one >> 1)] = root(other >> 1)
                    far, further = partner[one], partner[other]
                    partner[one], partner[other], partner[far], partner[further] = other, one, further, far
        at = [square for square, own in enumerate(ends) for _ in own]
        order = [end for own in ends for end in own]
        square_of = [0] * len(order)
        for square, end in zip(at, order):
            square_of[end] = square
        end = 2 * count - 1
        tour = [square_of[end]]
        while True:
            end = partner[end] ^ 1
            if len(tour) > count or end == 2 * count - 1:
                break
            tour.append(square_of[end])
        if odd:
            return tour if len(tour) == count else []
        return [*tour, tour[0]] if len(tour) == count else []
