class Solution:
    def crossings(self, pegs, reach):
        # From the greatest peg down: those far enough above are marked at their places on top.
        count = len(pegs)
        order = sorted(range(count), key=pegs.__getitem__, reverse=True)
        tree, marked, total = [0] * (count + 1), 0, 0
        for place in order:
            while marked < count and pegs[order[marked]] >= pegs[place] + reach:
                node = order[marked] + 1
                while node <= count:
                    tree[node] += 1
                    node += node & -node
                marked += 1
            node = place
            while node:
                total += tree[node]
                node &= node - 1
        return total
