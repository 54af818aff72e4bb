from heapq import heapify, heappop, heappush


class Solution:
    def takings(self, places, stalls):
        end = -(10**15)
        # Entries are [loss, left, right]; one that is taken out gets a loss of None's kind by a mark.
        row = [[-value, i, i] for i, value in enumerate(places)]
        left_of = {i: i - 1 for i in range(len(places))}
        right_of = {i: i + 1 for i in range(len(places))}
        value = dict(enumerate(places))
        value[-1] = value[len(places)] = end
        heap = [(loss, i) for loss, i, _ in row]
        heapify(heap)
        total = 0
        while stalls:
            loss, place = heappop(heap)
            if value.get(place) != -loss or place not in left_of:
                continue
            total -= loss
            stalls -= 1
            left, right = left_of[place], right_of[place]
            new = max(end, value[left] + value[right] + loss)
            value[place] = new
            for other, mine, theirs in ((left, left_of, right_of), (right, right_of, left_of)):
                if other in mine:
                    mine[place] = mine[other]
                    if mine[place] in theirs:
                        theirs[mine[place]] = place
                    del left_of[other], right_of[other], value[other]
            heappush(heap, (-new, place))
        return total
