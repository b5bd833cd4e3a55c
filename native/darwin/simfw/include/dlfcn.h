// Libraries that are opened at run time are the simulated ones.
#ifndef FULMEN_SIM_DLFCN_H
#define FULMEN_SIM_DLFCN_H

#include_next <dlfcn.h>

void *sim_dlopen(const char *name, int mode);
void *sim_dlsym(void *handle, const char *name);
int sim_dlclose(void *handle);
#define dlopen sim_dlopen
#define dlsym sim_dlsym
#define dlclose sim_dlclose

#endif
