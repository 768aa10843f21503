#include "local/launch_filter.h"

#include "local/launch_fd.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define FILTER_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define FILTER_ARCH AUDIT_ARCH_RISCV64
#endif

#ifdef FILTER_ARCH

/* seccomp_data: the low half of an argument on a little-endian machine, as all of the above are */
#define LOAD(field)   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ((error)&SECCOMP_RET_DATA))
#define ALLOW         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
/* goes on with the next instruction if equal, else over it */
#define UNLESS(value)     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1)
#define REFUSE(nr, error) UNLESS(nr), ANSWER(error)

static const struct sock_filter filter[] = {
    /*
     * Another architecture's calls (32-bit programs; x32 by its bit) have other numbers and, with
     * socketcall, arguments in memory: none of them.
     */
    LOAD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FILTER_ARCH, 1, 0),
    ANSWER(ENOSYS),
    LOAD(nr),
#ifdef __x86_64__
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
    ANSWER(ENOSYS),
#endif
    /* the host's (or, in a virtual machine, the hypervisor's) vsock servers: no namespace for it */
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
    LOAD(args[0]),
    UNLESS(AF_VSOCK),
    ANSWER(EAFNOSUPPORT),
    LOAD(nr),
    /* makes sockets without the call above */
    REFUSE(SYS_io_uring_setup, ENOSYS),
    REFUSE(SYS_io_uring_enter, ENOSYS),
    REFUSE(SYS_io_uring_register, ENOSYS),
    /* keys are looked up by number, whatever the namespace */
    REFUSE(SYS_keyctl, ENOSYS),
    REFUSE(SYS_add_key, ENOSYS),
    REFUSE(SYS_request_key, ENOSYS),
    /* the host's kernel log, where kernel.dmesg_restrict is 0 */
    REFUSE(SYS_syslog, EPERM),
    /* opens files by number, past every mount */
    REFUSE(SYS_open_by_handle_at, EPERM),
    /* look into the kernel, or hold it still: no use inside, and old friends of exploits */
    REFUSE(SYS_bpf, EPERM),
    REFUSE(SYS_perf_event_open, EPERM),
    REFUSE(SYS_userfaultfd, EPERM),
    ALLOW,
};

int launch_filter_make(void)
{
    return launch_fd_of_data(filter, sizeof filter);
}

#else

int launch_filter_make(void)
{
    errno = ENOSYS;
    return -1;
}

#endif
