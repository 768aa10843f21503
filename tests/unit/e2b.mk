# tests of e2b
