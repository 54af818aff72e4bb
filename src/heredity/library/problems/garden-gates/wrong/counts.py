class Solution:
    def firstFault(self, walk):
        count = {"(": 0, "[": 0, "{": 0}
        opener = {")": "(", "]": "[", "}": "{"}
        star = False
        for place, letter in enumerate(walk):
            if letter == "*":
                star = not star
            elif letter in count:
                count[letter] += 1
            else:
                count[opener[letter]] -= 1
                if count[opener[letter]] < 0:
                    return place
        return len(walk) if star or any(count.values()) else -1
