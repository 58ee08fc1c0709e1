/* The rep: represents one cell; makes containers follow the board and the board follow containers
 * (design.md 1, 5, 7). A role. */
#pragma once

#include "common/contract/role.h"
#include "rep/container/health.h"

struct rep_config {
    const char *cell_id;
    const char *identity;   /* drawn once, kept in the state directory */
    uint64_t incarnation;   /* raised by the shell at each start, kept in the state directory; the
                               role asks for a higher one when the board has lost the cell */
    const char *boot_id;    /* of this boot of the machine: its monotonic clock goes on through
                               restarts of the rep; NULL = not known */
    struct kept_evacuation evacuation; /* that a rep of this state directory before had begun */
    const char *zone;
    const char *boards;     /* "https://...,https://..." */
    const char *url;        /* where it listens: rep_url */
    const char *admin_url;  /* where its machine's own tools reach it; NULL = nowhere */
    /* What hooks of units need, bound into their containers: rep-hook with a link to it for each
     * tool, and the directory of the socket by which they reach this rep. NULL: hooks have no
     * tools. Both absolute. */
    const char *tools_dir, *tools_socket_dir;
    const char *address;    /* of its instances, as net info tells */
    bool own_network;       /* the driver gives containers networks of their own */
    bool advertise_instance; /* net info prefers the container's own address */
    const char *network;    /* what the driver chose and why, for people; NULL = "host" */
    int32_t memory_mb, disk_mb, containers; /* capacity */
    int32_t proxy_memory_mb;                /* set aside for each LRP beside its own */
    int32_t index;                          /* cell_index: for first-fit by the auctioneer */
    const char *const *rootfs_names;        /* preloaded; NULL-terminated */
    const struct name_value *rootfs_images; /* those of them that are images: "oci:///PATH#TAG" */
    size_t rootfs_image_count;
    bool pulls_images;                      /* docker: and oci: are root filesystems here, too */
    const char *const *placement_tags;
    const char *const *optional_placement_tags; /* "cell:<id>" is added by the role */
    uint16_t port_low, port_high;           /* for allotted host ports, both included */
    uint32_t ids_first, ids_count; /* of containers' user ids: ranges of CONTAINER_IDS; count 0 = no
                                      user namespaces */
    const char *const *volume_drivers;      /* NULL-terminated; NULL: none */
    bool privileged;        /* privileged containers are allowed */
    const char *isolation;  /* for people: what is on, and why not what is off; NULL = not known */
    /* Settings; 0 = default. */
    int64_t reconcile_interval_ns;   /* 30 s */
    int64_t reservation_ns;          /* 1 min */
    unsigned hooks;                  /* of units, that run at once; 4 */
    int64_t stop_grace_ns;           /* 10 s */
    int64_t evacuation_ns;           /* its time limit: 600 s */
    struct health_pace checks;       /* 500 ms, 30 s, 1 s (rep/container/checks.h) */
    bool leave_on_term;              /* SIGTERM ends the rep at once, and its containers run on */
};

/* Strings and lists are copied. */
struct role *rep_new(const struct rep_config *config);
