/*
 * The link between e2b-local's plane and a sandbox's daemon: one AF_UNIX stream connection per
 * request, made by the plane to a listening socket that the daemon inherits as descriptor 3.
 *
 * A frame is 1 byte type, 4 bytes length (big-endian), then the payload.
 *
 *   plane to daemon   HEAD  JSON {"method":"POST","target":"/files?path=%2Fa","headers":{...}}
 *                           (target as received: percent-encoding untouched; header names in lower
 *                           case; hop-by-hop and routing headers and the access token left out)
 *                     BODY  bytes of the body, at most LINK_FRAME_MAX each
 *                     END   the body is complete (always sent, after an empty body too)
 *   daemon to plane   HEAD  JSON {"status":200,"headers":{...}} and "length":N when it is known;
 *                           without it the plane sends chunked
 *                     BODY, END as above
 *
 * Either side that closes without END means "cut": the plane then cuts its client's connection
 * without the last chunk, the daemon takes its client to be gone. Back-pressure is the socket's:
 * whoever cannot pass bytes on stops reading.
 *
 * Descriptor 4 of the daemon is a SOCK_SEQPACKET pair to the plane, one JSON object per packet:
 *
 *   plane to daemon   {"init":{"sandboxID":"...","templateID":"...","envVars":{"K":"V"}}}   first
 *   daemon to plane   {"up":true}                                     it serves from here on
 *   plane to daemon   {"freeze":true} {"freeze":false}                SIGSTOP / SIGCONT to all
 *   end of file                                                       the daemon ends everything
 */
#ifndef HE2B_LOCAL_LINK_H
#define HE2B_LOCAL_LINK_H

enum link_frame {
    LINK_HEAD = 'H',
    LINK_BODY = 'B',
    LINK_END = 'E',
};

enum {
    LINK_LISTEN_FD = 3,
    LINK_CONTROL_FD = 4,
    LINK_PREFIX_SIZE = 5,
    /* Guards both sides' memory: one frame in each direction per request is all that is held. */
    LINK_FRAME_MAX = 64 * 1024,
    /* A head holds an HTTP header block; the plane refuses larger ones with 431. */
    LINK_HEAD_MAX = 64 * 1024,
};

#endif
