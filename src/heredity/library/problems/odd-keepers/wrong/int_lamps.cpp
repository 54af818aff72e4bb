class Solution {
public:
    long long stillLit(long long lamps) {
        int count = lamps, lit = 0;
        for (long long side = 1; side * side <= count; ++side) lit += 1 + (2 * side * side <= count);
        return lit;
    }
};
