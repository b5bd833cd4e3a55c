package mlxbridge

/*
#include "fulmen_mlx.h"
*/
import "C"

import (
	"runtime"
	"slices"
)

// Array is an MLX array: a shape, a dtype, and data that is computed when it is
// evaluated. It belongs to a Scope.
type Array struct {
	scope *Scope
	slot  int // in the scope's holdings; -1 once freed
	shape []int
	dtype Dtype
	known bool // shape and dtype have been asked for
}

// handle is the C handle, nil once the array or its scope is gone.
func (a *Array) handle() *C.fmlx_array {
	if a.slot < 0 || a.scope.held == nil {
		return nil
	}
	return a.scope.held.handles[a.slot]
}

// Free frees the array before its scope is closed; further use is ErrClosed.
// Freeing twice does nothing.
func (a *Array) Free() {
	h := a.handle()
	if h == nil {
		return
	}
	a.scope.held.vacate(a.slot)
	a.slot = -1
	C.fmlx_array_free(h)
}

// query asks MLX once for what never changes.
func (a *Array) query() {
	h := a.handle()
	if a.known || h == nil {
		return
	}
	var info C.fmlx_array_info
	C.fmlx_array_query(&info, h)
	runtime.KeepAlive(a)
	a.shape = make([]int, info.ndim)
	for i := range a.shape {
		a.shape[i] = int(info.shape[i])
	}
	a.dtype = Dtype(info.dtype)
	a.known = true
}

// Shape is the length of each dimension, empty for a scalar. It is nil if the
// array was closed before its shape was ever asked for.
func (a *Array) Shape() []int {
	a.query()
	return slices.Clone(a.shape)
}

// Dtype is the type of the elements.
func (a *Array) Dtype() Dtype {
	a.query()
	return a.dtype
}

// Ndim is the number of dimensions.
func (a *Array) Ndim() int {
	a.query()
	return len(a.shape)
}

// Size is the number of elements.
func (a *Array) Size() int {
	a.query()
	if !a.known {
		return 0
	}
	size := 1
	for _, d := range a.shape {
		size *= d
	}
	return size
}

// NBytes is the size of the elements in bytes.
func (a *Array) NBytes() int { return a.Size() * a.dtype.Size() }
