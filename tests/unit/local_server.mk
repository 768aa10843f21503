# tests of local_server
