class Solution {
    static const long long P = 1000000007;
    static vector<long long> times(const vector<long long>& a, const vector<long long>& b) {
        vector<long long> product(a.size() + b.size() - 1);
        for (size_t i = 0; i < a.size(); ++i)
            for (size_t j = 0; j < b.size(); ++j) product[i + j] = (product[i + j] + a[i] * b[j]) % P;
        return product;
    }
    static vector<long long> every_second(const vector<long long>& values, int from) {
        vector<long long> kept;
        for (size_t i = from; i < values.size(); i += 2) kept.push_back(values[i]);
        return kept;
    }

public:
    long long peals(long long bells, vector<long long>& motif, long long strokes) {
        int size = int(motif.size());
        vector<long long> above(size), below(size + 1);
        for (int k = 0; k < size; ++k) above[k] = equal(motif.begin() + k, motif.end(), motif.begin());
        for (int k = 0; k < size; ++k) {
            below[k] = (below[k] + above[k]) % P;
            below[k + 1] = (P - bells) * above[k] % P;
        }
        below[size] = (below[size] + 1) % P;
        for (; strokes; strokes /= 2) {
            vector<long long> mirrored = below;
            for (size_t k = 1; k < mirrored.size(); k += 2) mirrored[k] = (P - mirrored[k]) % P;
            above = every_second(times(above, mirrored), int(strokes % 2));
            below = every_second(times(below, mirrored), 0);
        }
        if (above.empty()) return 0;
        long long answer = above[0], base = below[0];
        for (long long power = P - 2; power; power /= 2, base = base * base % P)
            if (power % 2) answer = answer * base % P;
        return answer;
    }
};
