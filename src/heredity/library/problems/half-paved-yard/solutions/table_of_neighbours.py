class Solution:
    def slabs(self, yard):
        # A frame of trees round the yard, fields as numbers, marks with the number of the search.
        wide = len(yard[0]) + 2
        text = "#" * wide + "".join("#" + row + "#" for row in yard) + "#" * wide
        partner, mark = [0] * len(text), [0] * len(text)
        found = 0
        for start in range(len(text)):
            if text[start] == "#" or (start // wide + start % wide) % 2:
                continue
            queue, before = [start], {}
            mark[start] = start
            at = 0
            end = 0
            while at < len(queue) and not end:
                field = queue[at]
                at += 1
                for other in (field - wide, field - 1, field + 1, field + wide):
                    if text[other] == "." and mark[other] != start:
                        mark[other] = start
                        before[other] = field
                        if not partner[other]:
                            end = other
                            break
                        queue.append(partner[other])
            while end:
                field = before[end]
                after = partner[field]
                partner[end], partner[field] = field, end
                end = after
                if not end:
                    found += 1
        return found
