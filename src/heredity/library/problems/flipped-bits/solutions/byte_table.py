class Solution:
    def flips(self, spans):
        ones = [0]
        for number in range(1, 256):
            ones.append(ones[number // 2] + number % 2)
        total = 0
        for a, b in spans:
            total += 2 * (b - a)
            for byte in b.to_bytes(6, "little"):
                total -= ones[byte]
            for byte in a.to_bytes(6, "little"):
                total += ones[byte]
        return total
