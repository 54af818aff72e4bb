class Solution:
    def walk(self, squares, lanes):
        near = [[] for _ in range(squares)]
        for a, b in lanes:
            near[a].append(b)
            near[b].append(a)
        odd = [square for square in range(squares) if len(near[square]) % 2]
        if len(odd) > 2:
            return []
        tour = [odd[0] if odd else lanes[0][0]]
        place = 0
        while place < len(tour):
            # Put a round in wherever something is left, into the middle of the list.
            here, trip = tour[place], []
            while near[here]:
                there = max(near[here])
                near[here].remove(there)
                near[there].remove(here)
                trip.append(there)
                here = there
            tour[place + 1 : place + 1] = trip
            place += not trip
        return tour if len(tour) == len(lanes) + 1 else []
