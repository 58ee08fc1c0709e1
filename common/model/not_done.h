/* How the body of a 503 of a bbs begins when what was asked was certainly not done; so is an empty
 * one. After any other it may have been done (bbs/route/answer.h). */
#pragma once

#define NOT_DONE "not done: "
