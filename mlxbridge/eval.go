package mlxbridge

/*
#include <fulmen_mlx.h>
*/
import "C"

import "runtime"

// Eval computes the arrays and waits for them. An error of the computation, such
// as a peer that went away during a collective, is returned here. A wait for a
// peer has no limit of its own, and MLX does not always notice that it went away.
func (sc *Scope) Eval(arrays ...*Array) error {
	if err := sc.check("eval", arrays...); err != nil {
		return err
	}
	var text *C.char
	var rc C.int
	if len(arrays) == 1 {
		rc = C.fmlx_eval_one(&text, arrays[0].handle())
	} else if len(arrays) > 1 {
		list := handles(arrays)
		rc = C.fmlx_eval(&text, &list[0], C.size_t(len(list)))
	}
	return evaluated("eval", arrays, rc, text)
}

// AsyncEval starts to compute the arrays. A later Eval, Synchronize or read waits
// for them and returns the error of the computation.
func (sc *Scope) AsyncEval(arrays ...*Array) error {
	if err := sc.check("async_eval", arrays...); err != nil {
		return err
	}
	var text *C.char
	var rc C.int
	if len(arrays) > 0 {
		list := handles(arrays)
		rc = C.fmlx_async_eval(&text, &list[0], C.size_t(len(list)))
	}
	return evaluated("async_eval", arrays, rc, text)
}

func handles(arrays []*Array) []*C.fmlx_array {
	list := make([]*C.fmlx_array, len(arrays))
	for i, a := range arrays {
		list[i] = a.handle()
	}
	return list
}

// evaluated ends a call that used the arrays.
func evaluated(op string, arrays []*Array, status C.int, text *C.char) error {
	runtime.KeepAlive(arrays)
	if status != C.FMLX_OK {
		return failure(op, status, text)
	}
	return nil
}
