class Solution {
    unsigned long long number(ListNode* node, unsigned long long base) {
        unsigned long long value = 0;
        for (; node; node = node->next) value = value * base + node->val;
        return value;
    }

public:
    ListNode* difference(ListNode* one, ListNode* other, long long base) {
        unsigned long long a = number(one, base), b = number(other, base), value = a > b ? a - b : b - a;
        ListNode* first = nullptr;
        do {
            first = new ListNode(value % base, first);
            value /= base;
        } while (value);
        return first;
    }
};
