package mlxbridge

/*
#cgo CFLAGS: -I${SRCDIR}/shim
#cgo noescape fmlx_array_new
#cgo nocallback fmlx_array_new
#cgo noescape fmlx_array_free
#cgo nocallback fmlx_array_free
#cgo noescape fmlx_array_free_many
#cgo nocallback fmlx_array_free_many
#cgo noescape fmlx_array_query
#cgo nocallback fmlx_array_query
#cgo noescape fmlx_array_read
#cgo nocallback fmlx_array_read
#cgo noescape fmlx_eval
#cgo nocallback fmlx_eval
#cgo noescape fmlx_eval_one
#cgo nocallback fmlx_eval_one
#cgo noescape fmlx_async_eval
#cgo nocallback fmlx_async_eval
#cgo noescape fmlx_full
#cgo nocallback fmlx_full
#cgo noescape fmlx_astype
#cgo nocallback fmlx_astype
#cgo noescape fmlx_reshape
#cgo nocallback fmlx_reshape
#cgo noescape fmlx_normal
#cgo nocallback fmlx_normal
#cgo noescape fmlx_combine
#cgo nocallback fmlx_combine
#cgo noescape fmlx_sum
#cgo nocallback fmlx_sum
#cgo noescape fmlx_collect
#cgo nocallback fmlx_collect
#cgo noescape fmlx_send
#cgo nocallback fmlx_send
#cgo noescape fmlx_recv
#cgo nocallback fmlx_recv
#cgo noescape fmlx_barrier
#cgo nocallback fmlx_barrier
#cgo noescape fmlx_test_nothing
#cgo nocallback fmlx_test_nothing
#include <fulmen_mlx.h>
*/
import "C"

import (
	"unsafe"

	_ "fulmen/mlxbridge/shim" // compiles and links the C++
)

// dims gives C the first of a list of lengths. Go's int and the interface's
// int64_t are alike on every platform that MLX supports.
func dims(list []int) (*C.int64_t, C.int) {
	return (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(list))), C.int(len(list))
}

// Does not compile where int has another size than int64_t.
var _ = [1]struct{}{}[unsafe.Sizeof(C.int64_t(0))-unsafe.Sizeof(int(0))]
