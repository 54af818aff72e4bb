class Solution {
public:
    long long towerRest(vector<long long>& floors, long long modulus) {
        long long value = floors.back();
        for (int i = int(floors.size()) - 2; i >= 0; --i) {
            long long result = 1 % modulus, base = floors[i] % modulus;
            for (long long e = value; e; e >>= 1, base = base * base % modulus)
                if (e & 1) result = result * base % modulus;
            value = result;
        }
        return value % modulus;
    }
};
