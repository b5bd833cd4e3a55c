//go:build darwin

package authorization

/*
#cgo LDFLAGS: -framework Security
#include <stdlib.h>
#include "authorization.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"
)

// ErrCancelled is the error of a person who did not give the right.
var ErrCancelled = errors.New("cancelled")

// errCancelled is errAuthorizationCanceled of Authorization.h.
const errCancelled = -60006

// Authority is a process's authorization, which collects the rights that it is
// given; the zero value has none. It is never freed: its external form counts as
// long as it lives.
type Authority struct {
	mu  sync.Mutex // held while the person is asked: two questions at once are one too many
	own unsafe.Pointer
}

// Obtain asks for a right, saying why, and gives the external form of the
// authorization. It returns when the person has answered.
func (a *Authority) Obtain(right, why string) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	name, reason := C.CString(right), C.CString(why)
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(reason))
	var proof [C.FULMEN_PROOF_LENGTH]C.uint8_t
	switch status := C.fulmen_authorization_obtain(&a.own, name, reason, C.size_t(len(why)), &proof[0]); status {
	case 0:
		return C.GoBytes(unsafe.Pointer(&proof[0]), C.FULMEN_PROOF_LENGTH), nil
	case errCancelled:
		return nil, ErrCancelled
	default:
		return nil, fmt.Errorf("macOS does not give the right to administer Fulmen (error %d)", int(status))
	}
}
