class Solution:
    def walk(self, squares, lanes):
        halves = sorted([(a, b, i) for i, (a, b) in enumerate(lanes)] + [(b, a, i) for i, (a, b) in enumerate(lanes)])
        begin = [0] * (squares + 1)
        for a, _, _ in halves:
            begin[a + 1] += 1
        odd = [square for square in range(squares) if begin[square + 1] % 2]
        if len(odd) > 2:
            return []
        for square in range(squares):
            begin[square + 1] += begin[square]
        cursor, walked = begin[:], set()
        trail, tour = [odd[-1] if odd else halves[0][0]], []
        while trail:
            here = trail[-1]
            while cursor[here] < begin[here + 1] and halves[cursor[here]][2] in walked:
                cursor[here] += 1
            if cursor[here] == begin[here + 1]:
                tour.append(here)
                trail.pop()
            else:
                _, there, number = halves[cursor[here]]
                walked.add(number)
                trail.append(there)
        tour.reverse()
        return tour if len(tour) == len(lanes) + 1 else []
