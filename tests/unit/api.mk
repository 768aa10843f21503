# tests of api
