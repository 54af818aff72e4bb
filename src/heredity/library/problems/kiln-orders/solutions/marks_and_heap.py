from heapq import heappop, heappush


class Solution:
    def fired(self, orders):
        dropped, heap, total = set(), [], 0
        by_due = sorted(range(len(orders)), key=lambda place: orders[place][1])
        for place in by_due:
            heappush(heap, (-orders[place][0], place))
            total += orders[place][0]
            if total > orders[place][1]:
                hours, gone = heappop(heap)
                dropped.add(gone)
                total += hours
        kept = [order for place, order in enumerate(orders) if place not in dropped]
        return [len(kept), sum(hours for hours, _ in kept)]
