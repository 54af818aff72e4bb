"""Print the balance of each account of a ledger. It fails on real ledgers."""

import sys


def main(path):
    balances = {}
    for line in open(path, encoding="ascii"):
        date, account, amount = line.split(",")
        balances[account] = balances.get(account, 0.0) + float(amount)
    for account in balances:
        print(account, balances[account])


main(sys.argv[1])
