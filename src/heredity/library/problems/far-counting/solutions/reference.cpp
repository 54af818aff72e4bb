class Solution {
    static vector<long long> digits(ListNode* node) {
        while (node && !node->val) node = node->next;
        vector<long long> row;
        for (; node; node = node->next) row.push_back(node->val);
        return row;
    }

public:
    ListNode* difference(ListNode* one, ListNode* other, long long base) {
        vector<long long> a = digits(one), b = digits(other);
        if (a.size() < b.size() || (a.size() == b.size() && a < b)) swap(a, b);
        reverse(a.begin(), a.end());
        reverse(b.begin(), b.end());
        ListNode* first = nullptr;
        long long owed = 0;
        for (size_t i = 0; i < a.size(); ++i) {
            long long digit = a[i] - (i < b.size() ? b[i] : 0) - owed;
            owed = digit < 0;
            first = new ListNode(digit + owed * base, first);
        }
        while (first && first->next && !first->val) first = first->next;
        return first ? first : new ListNode(0);
    }
};
