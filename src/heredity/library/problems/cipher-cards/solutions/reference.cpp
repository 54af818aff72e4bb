class Solution {
public:
    long long firstClash(vector<string>& plain, vector<string>& coded) {
        unordered_map<string, string> to, back;
        for (size_t card = 0; card < plain.size(); ++card) {
            if (to.emplace(plain[card], coded[card]).first->second != coded[card]) return (long long)card;
            if (back.emplace(coded[card], plain[card]).first->second != plain[card]) return (long long)card;
        }
        return -1;
    }
};
