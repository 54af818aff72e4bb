class Solution {
public:
    ListNode* remaining(ListNode* beads) {
        vector<long long> kept;
        for (; beads; beads = beads->next) {
            if (!kept.empty() && kept.back() == -beads->val)
                kept.pop_back();
            else
                kept.push_back(beads->val);
        }
        ListNode* first = nullptr;
        for (size_t i = kept.size(); i-- > 0;) first = new ListNode(kept[i], first);
        return first;
    }
};
