/* Building config.json: tables of what every container gets, then what the spec asks for. */
#include "rep/driver/oci_spec.h"

#include "rep/driver/capability.h"
#include "rep/driver/network_plan.h"
#include "rep/driver/process_limits.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const struct mount {
    const char *destination, *type, *source;
    const char *options[8];
} mounts[] = {
    {"/proc", "proc", "proc", {"nosuid", "noexec", "nodev"}},
    {"/dev", "tmpfs", "tmpfs", {"nosuid", "strictatime", "mode=755", "size=1024k"}},
    {"/dev/pts", "devpts", "devpts",
     {"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"}},
    {"/dev/shm", "tmpfs", "shm", {"nosuid", "noexec", "nodev", "mode=1777", "size=65536k"}},
    {"/dev/mqueue", "mqueue", "mqueue", {"nosuid", "noexec", "nodev"}},
    {"/sys", "sysfs", "sysfs", {"nosuid", "noexec", "nodev", "ro"}},
};

/* The kernel makes a new /sys only for who owns the network namespace, which with the host's
 * network nobody with a user namespace does: then it is the cell's, without what tells of other
 * containers (mapped_paths). */
static const struct mount sys_of_cell = {
    "/sys", "bind", "/sys", {"rbind", "nosuid", "noexec", "nodev", "ro"}};

static const char *const masked_paths[] = {
    "/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
    "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi",
    "/sys/firmware", "/sys/devices/virtual/powercap",
};
static const char *const mapped_paths[] = {"/sys/fs", "/sys/kernel"};
static const char *const readonly_paths[] = {
    "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger",
};
static const char *const namespaces[] = {"mount", "pid", "ipc", "uts"};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Unchecked: words that are not UTF-8 make the dump of the whole fail, instead of getting lost. */
static void append(json_t *array, const char *word)
{
    json_array_append_new(array, json_string_nocheck(word));
}

static json_t *strings(const char *const *list, size_t count)
{
    json_t *a = json_array();
    for (size_t i = 0; i < count && list[i]; i++) {
        append(a, list[i]);
    }
    return a;
}

/* Each of the runtime's sets is the same. */
static json_t *rights(uint64_t capabilities)
{
    static const char *const sets[] = {"bounding", "effective", "permitted"};
    json_t *list = json_array(), *all = json_object();
    for (int i = 0; i < CAPABILITY_COUNT; i++) {
        if (capabilities >> i & 1) {
            append(list, capability_name(i));
        }
    }
    for (size_t i = 0; i < COUNT(sets); i++) {
        json_object_set(all, sets[i], list);
    }
    json_decref(list);
    return all;
}

static void append_variable(json_t *env, struct buf *line, const char *name, const char *value)
{
    buf_clear(line);
    buf_printf(line, "%s=%s", name, value);
    append(env, buf_string(line));
}

/* HOME is set by the runtime. */
static json_t *environment(const struct container_spec *spec, const struct oci_params *p)
{
    json_t *env = json_array();
    SCOPED_BUF(line);
    bool path = false, user = false;
    if (p->mark) {
        append_variable(env, &line, MARK_VARIABLE, p->mark);
    }
    if (p->given) {
        append_variable(env, &line, GIVEN_VARIABLE, p->given);
    }
    for (size_t i = 0; i < spec->env_count; i++) {
        const struct name_value *v = &spec->env[i];
        path = path || strcmp(v->name, "PATH") == 0;
        user = user || strcmp(v->name, "USER") == 0;
        bool own = p->address && spec->address_variable &&
                   strcmp(v->name, spec->address_variable) == 0;
        append_variable(env, &line, v->name, own ? p->address : v->value);
    }
    if (!path) {
        append_variable(env, &line, "PATH", PATH_DEFAULT);
    }
    if (!user && p->user.name[0]) {
        append_variable(env, &line, "USER", p->user.name);
    }
    return env;
}

/* Without a program the init alone, which waits. */
static json_t *arguments(const struct container_spec *spec, bool with_init)
{
    assert(spec->path || with_init);
    json_t *args = json_array();
    if (with_init) {
        append(args, INIT_INSIDE);
        append(args, spec->path ? "--" : INIT_IDLE);
    }
    if (!spec->path) {
        return args;
    }
    append(args, spec->path);
    for (const char *const *a = spec->args; a && *a; a++) {
        append(args, *a);
    }
    return args;
}

/* The user's own group is among the others, too, as after a login: who leaves it for another by
 * setgid() is still in it, and what a file denies that group it denies this program. */
static json_t *user_object(const struct user *u)
{
    assert(u->group_count <= USER_GROUPS_MAX);
    json_t *groups = json_pack("[I]", (json_int_t)u->gid);
    for (size_t i = 0; i < u->group_count; i++) {
        json_array_append_new(groups, json_integer(u->groups[i]));
    }
    return json_pack("{s:I, s:I, s:o}", "uid", (json_int_t)u->uid, "gid", (json_int_t)u->gid,
                     "additionalGids", groups);
}

json_t *oci_process(const struct container_spec *spec, const struct oci_params *p, bool with_init)
{
    int oom = p->facts.oom_score_adj > 0 ? p->facts.oom_score_adj : 0;
    return json_pack("{s:b, s:o, s:o, s:o, s:s, s:o, s:o, s:b, s:i}",
                     "terminal", 0,
                     "user", user_object(&p->user),
                     "args", arguments(spec, with_init),
                     "env", environment(spec, p),
                     "cwd", spec->dir && spec->dir[0] ? spec->dir : "/",
                     "capabilities",
                     rights(capabilities_of(spec->privileged, p->facts.capabilities)),
                     "rlimits", process_limits(spec, &p->facts, with_init),
                     "noNewPrivileges", !spec->privileged,
                     "oomScoreAdj", oom);
}

static json_t *bind(const char *source, const char *destination)
{
    return json_pack("{s:s, s:s, s:s, s:[s,s,s,s]}", "destination", destination, "type", "bind",
                     "source", source, "options", "bind", "ro", "nosuid", "nodev");
}

/* The shim has mounted the n-th directory as volumes/N. */
static json_t *directory_volume(const struct oci_params *p, const struct volume_plan *v, size_t n)
{
    SCOPED_BUF(source);
    buf_printf(&source, "%s/volumes/%zu", p->dir, n);
    return json_pack("{s:s, s:s, s:s, s:[s,s,s,s]}", "destination", v->path, "type", "bind",
                     "source", buf_string(&source), "options", "bind",
                     v->writable ? "rw" : "ro", "nosuid", "nodev");
}

static json_t *memory_volume(const struct volume_plan *v)
{
    json_t *options = json_pack("[s,s,s,s]", "nosuid", "nodev", "mode=1777",
                                v->writable ? "rw" : "ro");
    if (v->bytes > 0) {
        SCOPED_BUF(size);
        buf_printf(&size, "size=%llu", (unsigned long long)v->bytes);
        append(options, buf_string(&size));
    }
    return json_pack("{s:s, s:s, s:s, s:o}", "destination", v->path, "type", "tmpfs", "source",
                     "tmpfs", "options", options);
}

static void add_volumes(json_t *list, const struct oci_params *p)
{
    size_t directories = 0;
    for (size_t i = 0; i < p->volume_count; i++) {
        const struct volume_plan *v = &p->volumes[i];
        json_array_append_new(list, v->source ? directory_volume(p, v, directories++)
                                              : memory_volume(v));
    }
}

/* One of its own files, which its directory has under this name. */
static json_t *bind_own(const struct oci_params *p, const char *name)
{
    SCOPED_BUF(source);
    SCOPED_BUF(destination);
    buf_printf(&source, "%s/%s", p->network, name);
    buf_printf(&destination, "/etc/%s", name);
    return bind(buf_string(&source), buf_string(&destination));
}

/* The host's network means the host's resolver. */
static void add_names(const struct oci_params *p, json_t *list)
{
    if (p->network) {
        json_array_append_new(list, bind_own(p, "resolv.conf"));
        json_array_append_new(list, bind_own(p, "hosts"));
        return;
    }
    if (p->facts.resolv_conf) {
        json_array_append_new(list, bind("/etc/resolv.conf", "/etc/resolv.conf"));
    }
    if (p->facts.hosts) {
        json_array_append_new(list, bind("/etc/hosts", "/etc/hosts"));
    }
}

static json_t *mount_list(const struct oci_params *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < COUNT(mounts); i++) {
        bool sys = mounts[i].type == mounts[COUNT(mounts) - 1].type;
        const struct mount *m = sys && p->ids.first > 0 && !p->network ? &sys_of_cell : &mounts[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o}", "destination", m->destination,
                                              "type", m->type, "source", m->source, "options",
                                              strings(m->options, COUNT(m->options))));
    }
    json_array_append_new(list, bind(p->init, INIT_INSIDE));
    add_names(p, list);
    add_volumes(list, p);
    assert(!p->binds || json_is_array(p->binds));
    json_array_extend(list, (json_t *)(uintptr_t)p->binds);
    return list;
}

static json_t *memory(const struct container_spec *spec, const struct oci_facts *facts)
{
    assert(spec->memory_mb > 0);
    json_int_t bytes = (json_int_t)spec->memory_mb << 20;
    json_t *m = json_pack("{s:I}", "limit", bytes);
    if (facts->swap_limit) {
        json_object_set_new(m, "swap", json_integer(bytes)); /* together: no swap */
    }
    return m;
}

/* Weights keep their proportions, and 100 is about what the kernel gives who says nothing: 1024
 * shares, and a weight of 100 in version 2. There it is set by its own name: what runtimes make of
 * shares is 1 for each weight below 5, and 38 for 100. More than the kernel takes would keep the
 * container from starting, and the API takes any number. */
static void set_weight(json_t *r, json_t *cpu, uint32_t cpu_weight, const struct oci_facts *facts)
{
    assert(cpu_weight > 0);
    enum { SHARES_A_WEIGHT = 10, WEIGHT_MAX = 10000 };
    uint32_t weight = cpu_weight < WEIGHT_MAX ? cpu_weight : WEIGHT_MAX;
    if (facts->unified) {
        char text[16];
        snprintf(text, sizeof(text), "%u", weight);
        json_object_set_new(r, "unified", json_pack("{s:s}", "cpu.weight", text));
    } else {
        json_object_set_new(cpu, "shares", json_integer((json_int_t)weight * SHARES_A_WEIGHT));
    }
}

/* So many microseconds of processor time in each tenth of a second. */
static void set_most(json_t *cpu, uint32_t percent)
{
    enum { PERIOD_US = 100000, A_PERCENT_US = PERIOD_US / 100 };
    json_object_set_new(cpu, "period", json_integer(PERIOD_US));
    json_object_set_new(cpu, "quota", json_integer((json_int_t)percent * A_PERCENT_US));
}

static void set_cpu(json_t *r, const struct container_spec *spec, const struct oci_facts *facts)
{
    json_t *cpu = json_object();
    if (spec->cpu_weight > 0) {
        set_weight(r, cpu, spec->cpu_weight, facts);
    }
    if (spec->cpu_max_percent > 0) {
        set_most(cpu, spec->cpu_max_percent);
    }
    if (json_object_size(cpu) > 0) {
        json_object_set(r, "cpu", cpu);
    }
    json_decref(cpu);
}

/* Devices first: all denied, the runtime adds the harmless ones. */
static json_t *resources(const struct container_spec *spec, const struct oci_facts *facts)
{
    json_t *r = json_pack("{s:[{s:b, s:s}]}", "devices", "allow", (int)spec->privileged, "access",
                          "rwm");
    if (!facts->limits) {
        return r;
    }
    if (spec->memory_mb > 0) {
        json_object_set_new(r, "memory", memory(spec, facts));
    }
    if (spec->max_pids > 0) { /* the init is one more */
        json_object_set_new(r, "pids", json_pack("{s:I}", "limit", (json_int_t)spec->max_pids + 1));
    }
    set_cpu(r, spec, facts);
    return r;
}

/* What a privileged container mounts file systems of its own by, for every user in it as on most
 * machines. Its group of devices denies it nothing. */
static json_t *fuse_device(void)
{
    enum { MAJOR = 10, MINOR = 229, MODE = 0666 };
    return json_pack("[{s:s, s:s, s:i, s:i, s:i, s:i, s:i}]", "path", "/dev/fuse", "type", "c",
                     "major", MAJOR, "minor", MINOR, "fileMode", MODE, "uid", 0, "gid", 0);
}

static json_t *mappings(const struct id_range *ids)
{
    return json_pack("[{s:i, s:I, s:I}]", "containerID", 0, "hostID", (json_int_t)ids->first,
                     "size", (json_int_t)ids->count);
}

static json_t *masked(const struct oci_params *p)
{
    json_t *list = strings(masked_paths, COUNT(masked_paths));
    for (size_t i = 0; p->ids.first > 0 && !p->network && i < COUNT(mapped_paths); i++) {
        append(list, mapped_paths[i]);
    }
    return list;
}

/* A namespace made for it, or one that is there. */
static json_t *space_of(const char *type, const char *path)
{
    return json_pack("{s:s, s:s*}", "type", type, "path", path);
}

static json_t *linux_part(const struct container_spec *spec, const struct oci_params *p)
{
    json_t *spaces = json_array();
    for (size_t i = 0; i < COUNT(namespaces); i++) {
        json_array_append_new(spaces, json_pack("{s:s}", "type", namespaces[i]));
    }
    if (p->network) {
        json_array_append_new(spaces, space_of("network", p->join));
    }
    json_t *l = json_pack("{s:o, s:o, s:s}", "namespaces", spaces, "resources",
                          resources(spec, &p->facts), "cgroupsPath", p->cgroup);
    if (p->ids.first > 0) {
        SCOPED_BUF(users);
        buf_printf(&users, "%s/" NETWORK_USERS_FILE, p->dir);
        json_array_append_new(spaces, space_of("user", p->join ? buf_string(&users) : NULL));
        json_object_set_new(l, "uidMappings", mappings(&p->ids));
        json_object_set_new(l, "gidMappings", mappings(&p->ids));
    }
    if (spec->privileged && p->facts.fuse) {
        json_object_set_new(l, "devices", fuse_device());
    }
    if (!spec->privileged) {
        json_object_set_new(l, "maskedPaths", masked(p));
        if (p->seccomp) {
            json_object_set(l, "seccomp", (json_t *)(uintptr_t)p->seccomp);
        }
        json_object_set_new(l, "readonlyPaths", strings(readonly_paths, COUNT(readonly_paths)));
    }
    return l;
}

/* Called when the namespaces are there and before anything of the container runs: so the runtime
 * makes them itself (with a user namespace and somebody else's network namespace the kernel does
 * not let it mount /sys), and "run" stays one call. */
static json_t *hooks(const struct oci_params *p)
{
    enum { ATTACH_S = 60 };
    return json_pack("{s:[{s:s, s:[s,s,s], s:i}]}", "createRuntime", "path", p->network_program,
                     "args", "rep-network", "attach", p->network, "timeout", ATTACH_S);
}

json_t *oci_config(const struct container_spec *spec, const struct oci_params *p)
{
    json_t *config = json_pack("{s:s, s:o, s:{s:s, s:b}, s:s, s:o, s:o}",
                     "ociVersion", "1.0.2",
                     "process", oci_process(spec, p, true),
                     "root", "path", p->ids.first > 0 ? ROOT_FOR_RUNTIME : "rootfs",
                     "readonly", 0,
                     "hostname", p->guid,
                     "mounts", mount_list(p),
                     "linux", linux_part(spec, p));
    if (config && p->network && !p->join) {
        json_object_set_new(config, "hooks", hooks(p));
    }
    return config;
}
