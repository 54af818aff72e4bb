class Solution:
    def restrung(self, beads, step):
        nodes = []
        while beads:
            nodes.append(beads)
            beads = beads.next
        order = [n for i, n in enumerate(nodes) if (i + 1) % step] + nodes[step - 1 :: step][::-1]
        for a, b in zip(order, [*order[1:], None]):
            a.next = b
        return order[0] if order else None
