class Solution:
    def lineUp(self, names, heights):
        def merged(people):
            if len(people) < 2:
                return people
            half = len(people) // 2
            left, right = merged(people[:half]), merged(people[half:])
            out, i, j = [], 0, 0
            while i < len(left) and j < len(right):
                a, b = left[i], right[j]
                if heights[a] > heights[b] or heights[a] == heights[b] and names[a] < names[b]:
                    out.append(a)
                    i += 1
                else:
                    out.append(b)
                    j += 1
            return out + left[i:] + right[j:]

        row = [names[singer] for singer in merged(list(range(len(names))))]
        return row[1::2][::-1] + row[::2]
