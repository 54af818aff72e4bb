class Solution:
    def strung(self, beads, size):
        string = ""
        for bead in beads:
            string += bead
            while len(string) >= size and len(set(string[-size:])) == 1:
                last = string[-1]
                string = string[:-size] + (chr(ord(last) + 1) if last != "z" else "")
        return string
