"""What a run or a suite claims, checked by somebody who does not trust its owner: `heredity verify`."""
