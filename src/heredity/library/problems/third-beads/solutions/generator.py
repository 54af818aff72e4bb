class Solution:
    def restrung(self, beads, step):
        def walk(bead):
            while bead:
                yield bead.val
                bead = bead.next

        values = list(walk(beads))
        places = [i for i in range(len(values)) if i % step != step - 1]
        places += [i for i in reversed(range(len(values))) if i % step == step - 1]
        first = None
        for place in reversed(places):
            first = ListNode(values[place], first)
        return first
