class Solution:
    def evenStretches(self, beads):
        modulus, base = (1 << 61) - 1, 911_382_323_777_123_457
        kinds, power, odd = {}, 1, {}
        seen, state, total = {0: 1}, 0, 0
        for bead in beads:
            if bead not in kinds:
                kinds[bead] = power
                power = power * base % modulus
            sign = odd.get(bead, 1)
            odd[bead] = -sign
            state = (state + sign * kinds[bead]) % modulus
            total += seen.get(state, 0)
            seen[state] = seen.get(state, 0) + 1
        return total
