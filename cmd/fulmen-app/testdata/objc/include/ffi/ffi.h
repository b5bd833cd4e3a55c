// libffi as it is, behind checks of what darwinkit gives to it.
#ifndef SIM_FFI_H
#define SIM_FFI_H

#include <ffi.h>

void sim_ffi_call(ffi_cif *cif, void (*fn)(void), void *result, void **arguments);
ffi_status sim_ffi_prep_closure_loc(ffi_closure *closure, ffi_cif *cif,
	void (*fn)(ffi_cif *, void *, void **, void *), void *data, void *code);

#define ffi_call sim_ffi_call
#define ffi_prep_closure_loc sim_ffi_prep_closure_loc

#endif
