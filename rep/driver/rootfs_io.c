/* Layers are looked through as an overlay does it: the first that has the name tells; one that
 * hides it, or the directory above it, ends the search (overlayfs: a character device 0/0; the
 * attribute "opaque"). */
#include "rep/driver/driver_parts.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

enum { PATH_BYTES = 4096 };

static bool hides(int root, const char *path)
{
    struct stat st;
    int fd = open_inside(root, path, O_PATH | O_NOFOLLOW);
    bool white = fd >= 0 && fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == 0;
    fd_close(fd);
    return white;
}

static bool is_opaque(int root, const char *path)
{
    char value[2] = "";
    int fd = open_inside(root, path, O_RDONLY | O_DIRECTORY);
    bool opaque = fd >= 0 && fgetxattr(fd, "trusted.overlay.opaque", value, 1) == 1 &&
                  value[0] == 'y';
    fd_close(fd);
    return opaque;
}

/* Whether nothing of lower layers is seen at this path. */
static bool ends_search(int root, const char *path)
{
    char part[PATH_BYTES];
    bool ends = hides(root, path);
    for (const char *slash = strchr(path, '/'); !ends && slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
        ends = part[0] && (hides(root, part) || is_opaque(root, part));
    }
    return ends;
}

/* A descriptor of what the path leads to; -1: nothing. */
static int find(const struct rootfs_lowers *lowers, const char *path, int flags)
{
    int fd = -1;
    bool over = strlen(path) >= PATH_BYTES;
    path += strspn(path, "/");
    for (size_t i = 0; i < lowers->count && fd < 0 && !over; i++) {
        int root = open(lowers->paths[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
        over = root < 0 || hides(root, path);
        fd = over ? -1 : open_inside(root, path[0] ? path : ".", flags);
        over = over || (fd < 0 && ends_search(root, path));
        fd_close(root);
    }
    return fd;
}

void rootfs_read(const struct rootfs_lowers *lowers, const char *path, size_t most,
                 struct buf *out)
{
    uint8_t chunk[4096];
    ssize_t n;
    int fd = find(lowers, path, O_RDONLY | O_NONBLOCK);
    while (fd >= 0 && out->size < most && (n = read(fd, chunk, sizeof(chunk))) > 0) {
        buf_append(out, chunk, (size_t)n);
    }
    fd_close(fd);
}

bool rootfs_is_directory(const struct rootfs_lowers *lowers, const char *path)
{
    struct stat st;
    int fd = path[0] == '/' ? find(lowers, path, O_PATH) : -1;
    bool there = fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
    fd_close(fd);
    return there;
}
