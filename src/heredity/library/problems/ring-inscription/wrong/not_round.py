class Solution:
    def read(self, ring):
        def least(text):
            # The smallest ending of the text, without what follows it round the ring.
            found, begin = 0, 1
            while begin < len(text):
                same = 0
                while begin + same < len(text) and text[found + same] == text[begin + same] and same < 500:
                    same += 1
                if begin + same == len(text) or text[begin + same] < text[found + same]:
                    found = begin
                begin += same + 1
            return text[found:] + text[:found]

        return min(least(ring), least(ring[::-1]))
