class Solution {
    unordered_map<long long, long long> seen;
    long long visit(TreeNode* node, long long total, long long guests) {
        if (!node) return 0;
        total = (total + node->val) % guests;
        long long count = seen[total]++;
        count += visit(node->left, total, guests) + visit(node->right, total, guests);
        --seen[total];
        return count;
    }

public:
    long long even(TreeNode* tree, long long guests) {
        seen[0] = 1;
        return visit(tree, 0, guests);
    }
};
