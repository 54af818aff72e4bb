class Solution:
    def crossings(self, pegs, reach):
        count = len(pegs)
        order = sorted(range(count), key=lambda i: pegs[i])
        tree, marked, total = [0] * (count + 1), 0, 0
        for i in order:
            # Those far enough below are marked, from the right end on: only threads to the right of this one count.
            limit = pegs[i] - reach
            while marked < count and pegs[order[marked]] <= limit:
                node = count - order[marked]
                while node <= count:
                    tree[node] += 1
                    node += node & -node
                marked += 1
            node = count - i - 1
            while node > 0:
                total += tree[node]
                node -= node & -node
        return total
