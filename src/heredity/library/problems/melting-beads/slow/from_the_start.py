class Solution:
    def strung(self, beads, size):
        string = []
        for bead in beads:
            string.append(bead)
            while True:
                run, melted = 0, False
                for place, kind in enumerate(string):
                    run = run + 1 if place and string[place - 1] == kind else 1
                    if run == size:
                        string[place + 1 - size : place + 1] = [chr(ord(kind) + 1)] if kind != "z" else []
                        melted = True
                        break
                if not melted:
                    break
        return "".join(string)
