# charts: every (state, event) pair against a table, paths against invariants.
