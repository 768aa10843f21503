/*
 * What is known of the servers that a loop talks to, so that each is asked once: the codec of their
 * process service. Lives as long as the loop; nothing of it is written down.
 */
#ifndef HE2B_E2B_SERVERS_H
#define HE2B_E2B_SERVERS_H

#include "e2b/codec.h"

/*
 * The codec of a call to a target. A Start goes in protobuf until the server has refused that,
 * since it can be sent again in JSON (process.c). Others cannot: they go in protobuf to a server
 * that has shown that it reads it.
 */
const struct he2b_codec *he2b_servers_start_codec(const struct he2b_process_target *target);
const struct he2b_codec *he2b_servers_call_codec(const struct he2b_process_target *target);

/* The server has answered in protobuf, or refused it. Without memory, nothing is remembered. */
void he2b_servers_note(const struct he2b_process_target *target, bool proto);

#endif
