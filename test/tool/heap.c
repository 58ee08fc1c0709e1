#include "test/tool/heap.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifdef SANITIZED
#include <stddef.h>
/* Gcc of Debian 12 has it, but not its header. */
size_t __sanitizer_get_current_allocated_bytes(void);

long heap_kb(void)
{
    return (long)(__sanitizer_get_current_allocated_bytes() / 1024);
}
#else
#include <malloc.h>

long heap_kb(void)
{
    struct mallinfo2 m = mallinfo2();
    return (long)((m.uordblks + m.hblkhd) / 1024);
}
#endif
