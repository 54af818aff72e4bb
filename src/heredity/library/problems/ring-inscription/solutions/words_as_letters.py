class Solution:
    def read(self, ring):
        def begin_of(row):
            # The ring falls into words, each a run of smallest letters and what follows; then words are letters.
            low = min(row)
            starts = [i for i in range(len(row)) if row[i] == low and row[i - 1] != low]
            if not starts:
                return 0
            words = []
            for i, start in enumerate(starts):
                end = starts[i + 1] if i + 1 < len(starts) else starts[0] + len(row)
                words.append(
                    tuple(row[start:end]) if end <= len(row) else tuple(row[start:]) + tuple(row[: end - len(row)])
                )
            if len(words) == 1:
                return starts[0]
            # A word that goes on with another comes after it only if more than smallest letters follow: they begin the next word.
            names = {word: i for i, word in enumerate(sorted(set(words), key=lambda word: word + (low,)))}
            return starts[begin_of([names[word] for word in words])]

        found = []
        for text in (ring, ring[::-1]):
            begin = begin_of([ord(letter) for letter in text])
            found.append(text[begin:] + text[:begin])
        return min(found)
