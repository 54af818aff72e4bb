class Solution:
    def read(self, ring):
        size, codes = len(ring), [ord(letter) for letter in ring]
        found = []
        for step in (1, -1):
            one, other, same = 0, 1, 0
            while one < size and other < size and same < size:
                difference = codes[step * (one + same) % size] - codes[step * (other + same) % size]
                if difference == 0:
                    same += 1
                else:
                    if difference > 0:
                        one += same + 1
                    else:
                        other += same + 1
                    other += one == other
                    same = 0
            begin = min(one, other)
            found.append("".join([chr(codes[step * (begin + i) % size]) for i in range(size)]))
        return min(found)
