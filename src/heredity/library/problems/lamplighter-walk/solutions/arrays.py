from array import array


class Solution:
    def walk(self, squares, lanes):
        count = len(lanes)
        degree = array("i", bytes(4 * (squares + 1)))
        for a, b in lanes:
            degree[a] += 1
            degree[b] += 1
        start, odd = lanes[0][0], 0
        begin = array("i", bytes(4 * (squares + 1)))
        for square in range(squares):
            begin[square + 1] = begin[square] + degree[square]
            if degree[square] & 1:
                start, odd = square, odd + 1
        if odd > 2:
            return []
        cursor, slots = begin[:], array("i", bytes(8 * count))
        for number, (a, b) in enumerate(lanes):
            slots[cursor[a]] = number
            cursor[a] += 1
            slots[cursor[b]] = number
            cursor[b] += 1
        across = array("i", (a + b for a, b in lanes))
        walked = bytearray(count)
        trail, tour = array("i", [start]), array("i")
        here = start
        while trail:
            while cursor[here] > begin[here] and walked[slots[cursor[here] - 1]]:
                cursor[here] -= 1
            if cursor[here] == begin[here]:
                tour.append(trail.pop())
                here = trail[-1] if trail else -1
            else:
                number = slots[cursor[here] - 1]
                walked[number] = 1
                here = across[number] - here
                trail.append(here)
        return tour.tolist() if len(tour) == count + 1 else []
