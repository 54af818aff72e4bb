class Solution:
    def firstFault(self, walk):
        # Every step keeps where its stack goes on below.
        opener = {")": "(", "]": "[", "}": "{", "*": "*"}
        below, top = [], -1
        for place, letter in enumerate(walk):
            if top >= 0 and walk[top] == opener.get(letter):
                below.append(-2)
                top = below[top]
            elif letter in ")]}":
                return place
            else:
                below.append(top)
                top = place
        return len(walk) if top >= 0 else -1
