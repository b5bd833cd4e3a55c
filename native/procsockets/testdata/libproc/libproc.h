// The functions of macOS's <libproc.h> that are called.
#include <stdint.h>
#include <sys/types.h>

int proc_listpids(uint32_t type, uint32_t info, void *out, int size);
int proc_pidinfo(int pid, int flavour, uint64_t argument, void *out, int size);
int proc_pidfdinfo(int pid, int descriptor, int flavour, void *out, int size);
