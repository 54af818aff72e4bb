class Solution:
    def fired(self, orders):
        ranked = sorted(range(len(orders)), key=lambda place: orders[place][0])
        width = int(len(orders) ** 0.5) + 1
        place_of = [0] * len(orders)
        for rank, place in enumerate(ranked):
            place_of[place] = rank
        full, inside = [0] * (len(orders) // width + 1), [False] * len(orders)
        total = top = 0
        for place in sorted(range(len(orders)), key=lambda place: orders[place][1]):
            rank = place_of[place]
            inside[rank] = True
            full[rank // width] += 1
            top = max(top, rank // width)
            total += orders[place][0]
            if total > orders[place][1]:
                while not full[top]:
                    top -= 1
                rank = min(len(orders), (top + 1) * width) - 1
                while not inside[rank]:
                    rank -= 1
                inside[rank] = False
                full[top] -= 1
                total -= orders[ranked[rank]][0]
        return [sum(inside), total]
