#include "test/tool/slow_name.h"

#include "test/tool/patience.h"

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { TOO_LONG_S = 5 * PATIENCE_MS / 1000 }; /* a test may wait patiently for several things */

static pthread_mutex_t away = PTHREAD_MUTEX_INITIALIZER;
static atomic_int sought, ended;

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **ret_list)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    size_t size = name ? strlen(name) : 0;
    if (size < strlen(SLOW_NAME) || strcmp(name + size - strlen(SLOW_NAME), SLOW_NAME) != 0) {
        return real(name, service, hints, ret_list);
    }
    sought++;
    pthread_mutex_lock(&away);
    pthread_mutex_unlock(&away);
    ended++;
    return EAI_AGAIN;
}

void slow_name_begin(void)
{
    sought = ended = 0;
    pthread_mutex_lock(&away);
    alarm(TOO_LONG_S);
}

int slow_name_sought(void)
{
    return sought;
}

int slow_name_ended(void)
{
    return ended;
}

void slow_name_end(void)
{
    alarm(0);
    pthread_mutex_unlock(&away);
    for (struct patience p = {0}; ended < sought && patience(&p);) {
    }
}
