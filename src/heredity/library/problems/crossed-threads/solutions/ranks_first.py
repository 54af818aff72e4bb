class Solution:
    def crossings(self, pegs, reach):
        # Ranks of the pegs and of the pegs less the reach, both by one walk through the sorted order.
        count = len(pegs)
        order = sorted(range(count), key=pegs.__getitem__)
        rank, below, place = [0] * count, [0] * count, 0
        for number, i in enumerate(order):
            rank[i] = number + 1
            while pegs[order[place]] + reach <= pegs[i]:
                place += 1
            below[i] = place
        tree, total = [0] * (count + 1), 0
        for i in range(count - 1, -1, -1):
            node = below[i]
            while node:
                total += tree[node]
                node &= node - 1
            node = rank[i]
            while node <= count:
                tree[node] += 1
                node += node & -node
        return total
