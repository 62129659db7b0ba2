/* Preloaded into a process, fails one call on files below a folder: the n-th, with a chosen error, or
   kills the process there. Armed with fault_arm(); calls are counted from then on.
   cc -shared -fPIC -O1 -o shim.so shim.c -ldl */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char folder[PATH_MAX];
static atomic_long left;
static atomic_long seen;
static int failure;
static int armed;

/* The n-th call fails with error (0: the process is killed there). n = 0 only counts. */
void fault_arm(const char *below, long n, int error) {
    snprintf(folder, sizeof folder, "%s", below);
    atomic_store(&left, n);
    atomic_store(&seen, 0);
    failure = error;
    armed = 1;
}

long fault_count(void) { return atomic_load(&seen); }

static int fails(const char *path) {
    if (!armed || !path || strncmp(path, folder, strlen(folder)) != 0) return 0;
    long number = atomic_fetch_add(&seen, 1) + 1;
    if (number != atomic_load(&left)) return 0;
    if (failure == 0) kill(getpid(), SIGKILL);
    errno = failure;
    return 1;
}

static int fails_fd(int fd) {
    char link[64], path[PATH_MAX];
    if (!armed) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return fails(path);
}

/* As fails(), for a name in an open folder. */
static int fails_at(int at, const char *name) {
    char link[64], path[PATH_MAX];
    if (!armed) return 0;
    if (at == AT_FDCWD || !name || name[0] == '/') return fails(name);
    snprintf(link, sizeof link, "/proc/self/fd/%d", at);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0 || snprintf(path + size, sizeof path - size, "/%s", name) >= (int)(sizeof path - size)) return 0;
    return fails(path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static mode_t mode_of(int flags, va_list more) {
    return (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0;
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...) {                                                   \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        mode_t mode = mode_of(flags, more);                                                        \
        va_end(more);                                                                              \
        return fails(path) ? -1 : REAL(name)(path, flags, mode);                                   \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                               \
    int name(int at, const char *path, int flags, ...) {                                           \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        mode_t mode = mode_of(flags, more);                                                        \
        va_end(more);                                                                              \
        return fails_at(at, path) ? -1 : REAL(name)(at, path, flags, mode);                        \
    }
OPENAT(openat)
OPENAT(openat64)

ssize_t write(int fd, const void *data, size_t size) {
    return fails_fd(fd) ? -1 : REAL(write)(fd, data, size);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    return fails_fd(fd) ? -1 : REAL(pwrite)(fd, data, size, at);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    return fails_fd(fd) ? -1 : REAL(pwrite64)(fd, data, size, at);
}
ssize_t writev(int fd, const struct iovec *data, int count) {
    return fails_fd(fd) ? -1 : REAL(writev)(fd, data, count);
}
int fsync(int fd) { return fails_fd(fd) ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return fails_fd(fd) ? -1 : REAL(fdatasync)(fd); }
int rename(const char *from, const char *to) { return fails(to) ? -1 : REAL(rename)(from, to); }
int renameat(int a, const char *from, int b, const char *to) {
    return fails_at(b, to) ? -1 : REAL(renameat)(a, from, b, to);
}
int link(const char *from, const char *to) { return fails(to) ? -1 : REAL(link)(from, to); }
int linkat(int a, const char *from, int b, const char *to, int flags) {
    return fails_at(b, to) ? -1 : REAL(linkat)(a, from, b, to, flags);
}
int mkdir(const char *path, mode_t mode) { return fails(path) ? -1 : REAL(mkdir)(path, mode); }
int unlink(const char *path) { return fails(path) ? -1 : REAL(unlink)(path); }
int rmdir(const char *path) { return fails(path) ? -1 : REAL(rmdir)(path); }
int unlinkat(int at, const char *path, int flags) {
    return fails_at(at, path) ? -1 : REAL(unlinkat)(at, path, flags);
}
