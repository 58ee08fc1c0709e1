/* What a server of the tests holds in memory: exactly, where the resident size shows what the
 * allocator or a sanitizer keeps of what was freed as well. */
#pragma once

/* KiB that are allocated in this process, and not freed. */
long heap_kb(void);
