/*
 * The process service's messages in binary protobuf, turned into their JSON and back, so that a
 * test is written once and holds in both codecs. By hand from the table of wire C.7: nothing of the
 * library that is tested is used for the bytes.
 */
#ifndef HE2B_TESTS_UNIT_PROTO_H
#define HE2B_TESTS_UNIT_PROTO_H

#include <stdbool.h>
#include <stddef.h>

/* The JSON of a request by its method ("Start"), allocated; NULL: it cannot be read. */
char *proto_request(const char *method, const char *data, size_t len);

/* The bytes of an event ({"event":...}), allocated; NULL: json is none. */
char *proto_event(const char *json, size_t *ret_len);
/* {"event":{"data":{"stdout":...}}}, or stderr */
char *proto_output(const char *data, size_t len, bool errors, size_t *ret_len);

#endif
