/* Interfaces of this network namespace, by the kernel's own messages (rtnetlink): what stands below
 * /sys need not be of the same namespace. */
#include "rep/network/network.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct link_message {
    struct nlmsghdr head;
    struct ifinfomsg link;
    char more[512];
};

static struct link_message message_of(int type, int flags, unsigned index)
{
    struct link_message m = {
        .head = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)),
                 .nlmsg_type = (uint16_t)type,
                 .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags)},
        .link = {.ifi_family = AF_UNSPEC, .ifi_index = (int)index},
    };
    return m;
}

static int ask(const struct link_message *m)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd >= 0 && send(fd, m, m->head.nlmsg_len, 0) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Its answer: 0, or -1 with errno. */
static int acknowledged(const struct link_message *m)
{
    struct {
        struct nlmsghdr head;
        struct nlmsgerr error;
        char more[sizeof(struct link_message)];
    } answer;
    int fd = ask(m);
    ssize_t n = fd < 0 ? -1 : recv(fd, &answer, sizeof(answer), 0);
    if (fd >= 0) {
        close(fd);
    }
    if (n < (ssize_t)NLMSG_LENGTH(sizeof(answer.error)) || answer.error.error != 0) {
        errno = n > 0 ? -answer.error.error : EIO;
        return -1;
    }
    return 0;
}

/* False: there is no room for it. */
static bool add_attribute(struct link_message *m, unsigned short type, const void *data,
                          size_t size)
{
    if (m->head.nlmsg_len + RTA_SPACE(size) > sizeof(*m)) {
        return false;
    }
    struct rtattr *a = (struct rtattr *)(void *)((char *)m + m->head.nlmsg_len);
    a->rta_type = type;
    a->rta_len = (unsigned short)RTA_LENGTH(size);
    memcpy(RTA_DATA(a), data, size);
    m->head.nlmsg_len += RTA_ALIGN(a->rta_len);
    return true;
}

int link_mark(const char *name, const char *alias, uint32_t group)
{
    struct link_message m = message_of(RTM_SETLINK, NLM_F_ACK, if_nametoindex(name));
    if (m.link.ifi_index == 0 ||
        !add_attribute(&m, IFLA_GROUP, &group, sizeof(group)) ||
        !add_attribute(&m, IFLA_IFALIAS, alias, strlen(alias))) {
        errno = ENODEV;
        return -1;
    }
    return acknowledged(&m);
}

int link_delete(const char *name)
{
    struct link_message m = message_of(RTM_DELLINK, NLM_F_ACK, if_nametoindex(name));
    if (m.link.ifi_index == 0) {
        errno = ENODEV;
        return -1;
    }
    return acknowledged(&m);
}

static void tell_link(const struct nlmsghdr *h, void (*each)(void *, const char *, const char *),
                      void *context)
{
    const struct ifinfomsg *link = NLMSG_DATA(h);
    const char *name = NULL;
    char alias[256] = "";
    int left = (int)IFLA_PAYLOAD(h);
    for (const struct rtattr *a = IFLA_RTA(link); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if (a->rta_type == IFLA_IFNAME) {
            name = RTA_DATA(a);
        } else if (a->rta_type == IFLA_IFALIAS && RTA_PAYLOAD(a) < sizeof(alias)) {
            memcpy(alias, RTA_DATA(a), RTA_PAYLOAD(a));
            alias[RTA_PAYLOAD(a)] = '\0';
        }
    }
    if (name && alias[0]) {
        each(context, name, alias);
    }
}

/* One answer of several messages; false: it was the last. */
static bool tell_links(const char *data, ssize_t size,
                       void (*each)(void *, const char *, const char *), void *context)
{
    unsigned left = (unsigned)size;
    for (const struct nlmsghdr *h = (const void *)data; NLMSG_OK(h, left);
         h = NLMSG_NEXT(h, left)) {
        if (h->nlmsg_type != RTM_NEWLINK) {
            return false;
        }
        tell_link(h, each, context);
    }
    return true;
}

void link_each(void (*each)(void *context, const char *name, const char *alias), void *context)
{
    enum { ANSWER_BYTES = 64 * 1024 };
    struct link_message m = message_of(RTM_GETLINK, NLM_F_DUMP, 0);
    char *answer = malloc(ANSWER_BYTES);
    int fd = ask(&m);
    ssize_t n;
    while (answer && fd >= 0 && (n = recv(fd, answer, ANSWER_BYTES, 0)) > 0 &&
           tell_links(answer, n, each, context)) {
    }
    if (fd >= 0) {
        close(fd);
    }
    free(answer);
}
