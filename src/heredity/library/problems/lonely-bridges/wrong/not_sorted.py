class Solution:
    def halving(self, count, roads, least):
        around = [[] for _ in range(count)]
        for number, (a, b) in enumerate(roads):
            around[a].append((b, number))
            around[b].append((a, number))
        place, up, came, order, stack = [-1] * count, [0] * count, [-1] * count, [], [(0, 0, -1)]
        while stack:
            one, above, number = stack.pop()
            if place[one] < 0:
                place[one], up[one], came[one] = len(order), above, number
                order.append(one)
                stack += [(other, one, road) for other, road in around[one] if place[other] < 0]
        # How many roads besides the tree lead over each of its roads: all of them lead up the tree.
        over, size, tree = [0] * count, [1] * count, set(came)
        for number, (a, b) in enumerate(roads):
            if number not in tree:
                a, b = (a, b) if place[a] <= place[b] else (b, a)
                over[b] += 1
                over[a] -= 1
        for one in reversed(order[1:]):
            over[up[one]] += over[one]
            size[up[one]] += size[one]
        return [came[one] for one in order[1:] if not over[one] and least <= size[one] <= count - least]
