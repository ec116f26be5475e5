"""Double entry in Python: books, positions, payouts, approvals, periods and their audit.

An implementation of the money rules that shares no code with the product. Rule names (J1, P1, H2
...) are those of the commission rules.
"""
