# tests of session
