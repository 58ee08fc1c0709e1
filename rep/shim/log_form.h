/* The lines of a container's log, as the shim and the rep write them: those of the CRI (Kubernetes'
 * interface of container runtimes) with the source between the flag and the text:
 *
 *   2026-01-02T03:04:05.000000006Z stdout F APP/WEB text
 *
 * F ends a line of the program; P is a part of one that goes on: with the next line of this stream
 * and source. Lines of one read have one time.
 * Shared by the shim and the rep's drivers (the shim is linked alone, hence inline). */
#pragma once

#include <stdint.h>
#include <time.h>

#define LOG_FILE "output" /* in the container's log directory; LOG_FILE.1 is the one before */

enum {
    LOG_TIME_SIZE = 30,   /* characters of the time */
    LOG_SOURCE_SIZE = 64, /* most bytes of a source; the rest is cut off */
    LOG_PART_SIZE = 16 * 1024, /* most bytes of text in one line of the log */
    LOG_FLAG_AT = LOG_TIME_SIZE + 8,                       /* where F or P stands */
    LOG_HEAD_SIZE = LOG_FLAG_AT + 2 + LOG_SOURCE_SIZE + 1, /* most of what stands before the text */
};

/* The time in UTC, with nanoseconds; it has always LOG_TIME_SIZE characters (until 9999), so that
 * texts compare as times do. */
static inline void log_time_print(int64_t wall_ns, char text[LOG_TIME_SIZE + 1])
{
    enum { NS = 1000000000, DAY_SIZE = 20 };
    time_t second = (time_t)(wall_ns / NS);
    long rest = (long)(wall_ns % NS);
    struct tm t;
    gmtime_r(&second, &t);
    strftime(text, LOG_TIME_SIZE + 1, "%Y-%m-%dT%H:%M:%S.", &t);
    for (int i = LOG_TIME_SIZE - 2; i >= DAY_SIZE; i--) {
        text[i] = (char)('0' + rest % 10);
        rest /= 10;
    }
    text[LOG_TIME_SIZE - 1] = 'Z';
    text[LOG_TIME_SIZE] = '\0';
}

/* A source as one word: "_" stands for what would part it, "LOG" for none. */
static inline void log_source_print(const char *source, char text[LOG_SOURCE_SIZE + 1])
{
    int n = 0;
    for (source = source && *source ? source : "LOG"; source[n] && n < LOG_SOURCE_SIZE; n++) {
        unsigned char c = (unsigned char)source[n];
        text[n] = source[n];
        if (c <= ' ' || c == 127) {
            text[n] = '_';
        }
    }
    text[n] = '\0';
}
