class Solution:
    def missing(self, count, streets):
        ahead, back = [set() for _ in range(count)], [set() for _ in range(count)]
        for a, b in streets:
            ahead[a].add(b)
            back[b].add(a)

        def reached(start, after):
            found, stack = {start}, [start]
            while stack:
                for other in after[stack.pop()]:
                    if other not in found:
                        found.add(other)
                        stack.append(other)
            return found

        part, parts = [-1] * count, 0
        for start in range(count):
            both = reached(start, ahead) & reached(start, back)
            if part[start] < 0:
                for one in both:
                    part[one] = parts
                parts += 1
        if parts == 1:
            return 0
        no_way_in, no_way_out = [True] * parts, [True] * parts
        for a, b in streets:
            if part[a] != part[b]:
                no_way_out[part[a]] = no_way_in[part[b]] = False
        return max(sum(no_way_in), sum(no_way_out))
