#include "rep/driver/resolver_words.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

static bool is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

static bool is_four(const char *address)
{
    struct in_addr a;
    return inet_pton(AF_INET, address, &a) == 1;
}

bool address_valid(const char *text)
{
    struct in6_addr a;
    return is_four(text) || inet_pton(AF_INET6, text, &a) == 1;
}

/* "nameserver ADDRESS": the address, in the arena; NULL: another line. */
static const char *server_of(struct arena *a, const char *line, size_t size)
{
    static const char word[] = "nameserver";
    size_t at = sizeof(word) - 1, end;
    if (size <= at || strncmp(line, word, at) != 0 || !isblank((unsigned char)line[at])) {
        return NULL;
    }
    while (at < size && isblank((unsigned char)line[at])) {
        at++;
    }
    for (end = at; end < size && !isspace((unsigned char)line[end]);) {
        end++;
    }
    return arena_strndup(a, line + at, end - at);
}

static size_t lines_of(const char *text)
{
    size_t count = 1;
    for (; *text; text++) {
        count += *text == '\n';
    }
    return count;
}

/* The machine's, line by line. */
static size_t as_machine(struct arena *a, const char *text, struct buf *out, const char **servers)
{
    size_t count = 0;
    while (*text) {
        size_t size = strcspn(text, "\n");
        const char *server = server_of(a, text, size);
        if (!server || !is_loopback(server)) {
            buf_append(out, text, size);
            buf_append_string(out, "\n");
        }
        if (server && !is_loopback(server) && is_four(server)) {
            servers[count++] = server;
        }
        text += size + (text[size] == '\n');
    }
    return count;
}

void resolver_words(struct arena *a, const char *machine, const char *const *dns, struct buf *out,
                    const char *const **ret_servers)
{
    size_t given = 0, count = 0;
    while (dns && dns[given]) {
        given++;
    }
    const char **servers = ARENA_ARRAY(a, given + lines_of(machine) + 1, const char *);
    for (size_t i = 0; i < given; i++) {
        buf_printf(out, "nameserver %s\n", dns[i]);
        if (is_four(dns[i])) {
            servers[count++] = arena_strdup(a, dns[i]);
        }
    }
    if (given == 0) {
        as_machine(a, machine, out, servers);
    }
    *ret_servers = servers;
}

bool host_valid(const char *words)
{
    size_t name = strcspn(words, "=");
    bool good = name > 0 && words[name] == '=' && address_valid(words + name + 1);
    for (size_t i = 0; good && i < name; i++) {
        good = isalnum((unsigned char)words[i]) || words[i] == '.' || words[i] == '-';
    }
    return good;
}

void hosts_words(const char *const *hosts, const char *address, const char *guid, struct buf *out)
{
    buf_append_string(out, "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n");
    for (; hosts && *hosts; hosts++) {
        size_t name = strcspn(*hosts, "=");
        buf_printf(out, "%s %.*s\n", *hosts + name + 1, (int)name, *hosts);
    }
    if (address) {
        buf_printf(out, "%s %s\n", address, guid);
    }
}
