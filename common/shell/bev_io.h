/* What bufferevents of libevent 2.1 need done from outside. In a file of its own, because
 * libevent's full struct event and the contract's bear one name. */
#pragma once

struct bufferevent;

/* Makes the loop read from this bufferevent as if its socket had become readable. For bytes that
 * OpenSSL holds decrypted: no socket event tells of them. */
void bev_read_again(struct bufferevent *bev);
