class Solution {
    int count = 0;
    int visit(TreeNode* node) {
        if (!node) return 0;
        int below = int(unsigned(visit(node->left)) + unsigned(visit(node->right)));
        count += node->val > below;
        return int(unsigned(below) + unsigned(node->val));
    }

public:
    long long proud(TreeNode* tree) {
        visit(tree);
        return count;
    }
};
