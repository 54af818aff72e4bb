class Solution:
    def firstFault(self, walk):
        closer = {"(": ")", "[": "]", "{": "}"}
        awaited = []
        for place, letter in enumerate(walk):
            if awaited and awaited[-1] == letter:
                awaited.pop()
            elif letter in ")]}":
                return place
            else:
                awaited.append(closer.get(letter, letter))
        return len(walk) if awaited else -1
