class Solution {
public:
    long long brightest(TreeNode* tree) {
        if (!tree) return 0;
        int with = tree->val, without = 0;
        for (TreeNode* child : {tree->left, tree->right})
            if (child) without += brightest(child), with += brightest(child->left) * 0;
        return max(with, without);
    }
};
