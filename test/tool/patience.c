#include "test/tool/patience.h"

#include "test/tool/cmocka.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { REST_MS = 10 };

int64_t patience_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool patience_lasts(struct patience *p)
{
    int64_t now_ms = patience_now_ms();
    if (!p->end_ms) {
        p->end_ms = now_ms + PATIENCE_MS;
    }
    return now_ms < p->end_ms;
}

bool patience(struct patience *p)
{
    return patience_lasts(p) && usleep(REST_MS * 1000) == 0;
}

int patience_port_in_log(const char *path, const char *mark)
{
    char text[16384] = "";
    for (struct patience p = {0}; patience(&p);) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
        close(fd);
        text[n > 0 ? n : 0] = '\0';
        const char *line = strstr(text, mark);
        const char *end = line ? strchr(line, '\n') : NULL;
        const char *port =
            end ? memmem(line, (size_t)(end - line), "port=", strlen("port=")) : NULL;
        if (port) {
            return atoi(port + strlen("port="));
        }
    }
    fail_msg("no %s with a port after %d s in %s: %s", mark, PATIENCE_MS / 1000, path, text);
    return 0;
}
