// Requests to the kernel's bridge go to the simulated one.
#ifndef FULMEN_SIM_IOCTL_H
#define FULMEN_SIM_IOCTL_H

#include_next <sys/ioctl.h>
#ifndef _IOWR
#include <asm/ioctl.h>
#endif

int sim_ioctl(int descriptor, unsigned long request, void *argument);
#define ioctl sim_ioctl

#endif
