def factors(text):
    begin, size = 0, len(text)
    while begin < size:
        ahead, back = begin + 1, begin
        while ahead < size and text[back] <= text[ahead]:
            back = begin if text[back] < text[ahead] else back + 1
            ahead += 1
        width = ahead - back
        while begin <= back:
            yield begin
            begin += width


class Solution:
    def read(self, ring):
        found = []
        for text in (ring, ring[::-1]):
            begin = max(place for place in factors(text * 2) if place < len(ring))
            found.append(text[begin:] + text[:begin])
        return min(found)
