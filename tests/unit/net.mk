# tests of net
