string least(const string& text) {
    size_t size = text.size(), one = 0, other = 1, same = 0;
    string twice = text + text;
    while (one < size && other < size && same < size) {
        char a = twice[one + same], b = twice[other + same];
        if (a == b) {
            ++same;
            continue;
        }
        (a > b ? one : other) += same + 1;
        if (one == other) ++other;
        same = 0;
    }
    return twice.substr(min(one, other), size);
}

class Solution {
public:
    string read(string ring) {
        return min(least(ring), least(string(ring.rbegin(), ring.rend())));
    }
};
