class Solution:
    def read(self, ring):
        letter = min(ring)
        back = ring[::-1]
        one, other = ring.index(letter), back.index(letter)
        return min(ring[one:] + ring[:one], back[other:] + back[:other])
