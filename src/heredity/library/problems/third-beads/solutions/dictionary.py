class Solution:
    def restrung(self, beads, step):
        row, count = {}, 0
        while beads:
            row[count] = beads
            beads, count = beads.next, count + 1
        taken = count // step
        made = {}
        at = 0
        for place in range(count):
            if (place + 1) % step == 0:
                made[count - (place + 1) // step] = row[place]
            else:
                made[at] = row[place]
                at += 1
        for place in range(count):
            made[place].next = made.get(place + 1)
        return made.get(0)
