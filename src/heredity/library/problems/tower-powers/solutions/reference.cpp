class Solution {
    static long long totient(long long number) {
        long long result = number;
        for (long long prime = 2; prime * prime <= number; ++prime)
            if (number % prime == 0) {
                result -= result / prime;
                while (number % prime == 0) number /= prime;
            }
        return number > 1 ? result - result / number : result;
    }
    static long long reduced(__int128 value, long long m) { return value < m ? (long long)value : (long long)(value % m) + m; }
    static long long rest(vector<long long>& floors, size_t place, long long m) {
        if (m == 1 || place + 1 == floors.size()) return reduced(floors[place], m);
        long long exponent = rest(floors, place + 1, totient(m)), result = 1, base = reduced(floors[place], m);
        for (; exponent; exponent >>= 1) {
            if (exponent & 1) result = reduced((__int128)result * base, m);
            base = reduced((__int128)base * base, m);
        }
        return result;
    }
public:
    long long towerRest(vector<long long>& floors, long long modulus) { return rest(floors, 0, modulus) % modulus; }
};
