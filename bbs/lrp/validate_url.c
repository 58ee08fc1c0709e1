#include "bbs/lrp/validate_url.h"

#include <string.h>

/* A part of the URL; borrowed. */
struct span {
    const char *at;
    size_t size;
};

static struct span span(const char *from, const char *to)
{
    return (struct span){.at = from, .size = (size_t)(to - from)};
}

static const char *end_of(struct span s)
{
    return s.at + s.size;
}

static const char *first(struct span s, char c)
{
    return memchr(s.at, c, s.size);
}

static const char *last(struct span s, char c)
{
    return memrchr(s.at, c, s.size);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

/* Of a hex digit its value, -1 of anything else. */
static int hex(char c)
{
    if (is_digit(c)) {
        return c - '0';
    }
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* ---- escapes --------------------------------------------------------------------------------- */

/* Where a text stands decides what it may hold beside escapes that are whole. */
enum url_place {
    ANYWHERE, /* user, password, path, fragment: all else */
    HOST, /* only the bytes of host_byte(), and escapes of bytes that are not ASCII, and "%25" */
    ZONE, /* of an IPv6 address: the same bytes, and escapes of these, of a space, and "%25" */
};

static bool host_byte(unsigned char c)
{
    return c >= 0x80 || is_letter((char)c) || is_digit((char)c) ||
           is_one_of((char)c, "!$&'()*+,;=:[]<>\"-_.~");
}

static bool good_escape(const char *at, enum url_place place)
{
    int high = hex(at[1]), low = hex(at[2]);
    bool percent = high == 2 && low == 5;
    switch (place) {
    case HOST:
        return percent || high >= 8;
    case ZONE:
        return percent || (high == 2 && low == 0) ||
               ((high << 4 | low) < 0x80 && host_byte((unsigned char)(high << 4 | low)));
    case ANYWHERE:
        break;
    }
    return true;
}

static bool good_text(struct span s, enum url_place place)
{
    for (const char *c = s.at; c < end_of(s); c++) {
        if (*c == '%') {
            bool whole = end_of(s) - c > 2 && hex(c[1]) >= 0 && hex(c[2]) >= 0;
            if (!whole || !good_escape(c, place)) {
                return false;
            }
            c += 2;
        } else if (place != ANYWHERE && !host_byte((unsigned char)*c)) {
            return false;
        }
    }
    return true;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Nothing, or a colon and digits, if any. */
static bool good_port(struct span s)
{
    for (size_t i = 1; i < s.size; i++) {
        if (!is_digit(s.at[i])) {
            return false;
        }
    }
    return s.size == 0 || s.at[0] == ':';
}

/* "[address]:port" or "[address%25zone]:port". */
static bool good_literal(struct span host)
{
    const char *end = last(host, ']');
    if (!end || !good_port(span(end + 1, end_of(host)))) {
        return false;
    }
    const char *zone = memmem(host.at, (size_t)(end - host.at), "%25", 3);
    if (!zone) {
        return good_text(host, HOST);
    }
    return good_text(span(host.at, zone), HOST) && good_text(span(zone, end), ZONE) &&
           good_text(span(end, end_of(host)), HOST);
}

static bool good_host(struct span host)
{
    if (host.size && host.at[0] == '[') {
        return good_literal(host);
    }
    const char *port = last(host, ':');
    return (!port || good_port(span(port, end_of(host)))) && good_text(host, HOST);
}

/* Its first colon parts it; an escape that a colon cuts is none. */
static bool good_user(struct span user)
{
    for (const char *c = user.at; c < end_of(user); c++) {
        if (!is_letter(*c) && !is_digit(*c) && !is_one_of(*c, "-._:~!$&'()*+,;=%@")) {
            return false;
        }
    }
    const char *colon = first(user, ':');
    return colon ? good_text(span(user.at, colon), ANYWHERE) &&
                       good_text(span(colon + 1, end_of(user)), ANYWHERE)
                 : good_text(user, ANYWHERE);
}

static bool good_authority(struct span authority)
{
    const char *at = last(authority, '@');
    return at ? good_host(span(at + 1, end_of(authority))) && good_user(span(authority.at, at))
              : good_host(authority);
}

/* "//authority/path" or "/path"; what is neither is opaque and may be anything. */
static bool good_hierarchy(struct span s)
{
    if (s.size == 0 || s.at[0] != '/') {
        return true;
    }
    if (s.size == 1 || s.at[1] != '/') {
        return good_text(s, ANYWHERE);
    }
    struct span authority = span(s.at + 2, end_of(s));
    const char *path = first(authority, '/');
    path = path ? path : end_of(s);
    return good_authority(span(s.at + 2, path)) && good_text(span(path, end_of(s)), ANYWHERE);
}

/* After the colon; NULL when there is none. */
static const char *after_scheme(struct span s)
{
    const char *c = s.at;
    if (c == end_of(s) || !is_letter(*c)) {
        return NULL;
    }
    while (c < end_of(s) && (is_letter(*c) || is_digit(*c) || is_one_of(*c, "+-."))) {
        c++;
    }
    return c < end_of(s) && *c == ':' ? c + 1 : NULL;
}

bool valid_url(const char *url)
{
    struct span whole = span(url, url + strlen(url));
    const char *hash = first(whole, '#');
    struct span head = span(url, hash ? hash : end_of(whole));
    if (hash && !good_text(span(hash + 1, end_of(whole)), ANYWHERE)) {
        return false;
    }
    for (const char *c = head.at; c < end_of(head); c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            return false;
        }
    }
    const char *rest = after_scheme(head);
    if (!rest) {
        return false;
    }
    const char *query = first(span(rest, end_of(head)), '?'); /* which may be anything */
    return good_hierarchy(span(rest, query ? query : end_of(head)));
}
