class Solution:
    def takings(self, places, stalls):
        count, end = len(places), -(10**15)
        value = [end, *places, end]
        before, after = [0, *range(count + 1)], [*range(1, count + 2), count + 1]
        size = 1 << (count + 2).bit_length()
        top = [0] * (2 * size)
        lowest = -(10**18)
        value += [lowest] * (size - count - 2)
        for i in range(size):
            top[size + i] = i
        for node in range(size - 1, 0, -1):
            a, b = top[2 * node], top[2 * node + 1]
            top[node] = a if value[a] >= value[b] else b

        def put(place, new):
            value[place] = new
            node = (size + place) // 2
            while node:
                a, b = top[2 * node], top[2 * node + 1]
                top[node] = a if value[a] >= value[b] else b
                node //= 2

        total = 0
        for _ in range(stalls):
            place = top[1]
            total += value[place]
            left, right = before[place], after[place]
            new = max(end, value[left] + value[right] - value[place])
            before[place], after[place] = before[left], after[right]
            after[before[left]] = before[after[right]] = place
            put(left, lowest)
            put(right, lowest)
            # A place at the end of the street has no outer neighbour to change for.
            if left in (0, place) or right in (count + 1, place):
                new = end
                value[0] = value[count + 1] = end
            put(place, new)
        return total
