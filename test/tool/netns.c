#include "test/tool/netns.h"

#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static bool entered;

static bool loopback_up(void)
{
    struct ifreq request = {.ifr_name = "lo"};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return false;
    }
    bool done = ioctl(fd, SIOCGIFFLAGS, &request) == 0;
    request.ifr_flags |= IFF_UP | IFF_RUNNING;
    done = done && ioctl(fd, SIOCSIFFLAGS, &request) == 0;
    close(fd);
    return done;
}

bool netns_enter(void)
{
    entered = entered || (unshare(CLONE_NEWNET) == 0 && loopback_up());
    return entered;
}

bool netns_drop(int port)
{
    char command[512];
    snprintf(command, sizeof(command),
             "nft -f - <<'END'\n"
             "add table ip corkboard\n"
             "add chain ip corkboard input { type filter hook input priority 0; }\n"
             "add rule ip corkboard input tcp dport %d drop\n"
             "add rule ip corkboard input tcp sport %d drop\n"
             "END\n",
             port, port);
    return entered && system(command) == 0;
}

void netns_restore(void)
{
    if (entered && system("nft delete table ip corkboard") != 0) {
        fprintf(stderr, "cannot remove the packet filter\n");
    }
}
