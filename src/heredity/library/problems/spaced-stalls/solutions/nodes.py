from heapq import heappop, heappush

END = -(10**15)


class Place:
    def __init__(self, value):
        self.value, self.left, self.right, self.gone = value, None, None, False


class Solution:
    def takings(self, places, stalls):
        row = [Place(value) for value in places]
        for a, b in zip(row, row[1:]):
            a.right, b.left = b, a
        heap, number, total = [], len(places), 0
        for i, place in enumerate(row):
            heappush(heap, (-place.value, i, place))
        while stalls:
            _, _, place = heappop(heap)
            if place.gone:
                continue
            total += place.value
            stalls -= 1
            left, right = place.left, place.right
            place.value = left.value + right.value - place.value if left and right else END
            if left:
                left.gone, place.left = True, left.left
                if left.left:
                    left.left.right = place
            if right:
                right.gone, place.right = True, right.right
                if right.right:
                    right.right.left = place
            place.value = max(place.value, END)
            number += 1
            heappush(heap, (-place.value, number, place))
        return total
