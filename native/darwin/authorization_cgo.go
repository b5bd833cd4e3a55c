//go:build cgo && (darwin || (linux && darwinsim))

package darwin

/*
#cgo darwin LDFLAGS: -framework Security
#include "authorization.h"
#include "result.h"
*/
import "C"

import "time"

func systemAuthorizations() authorizations { return systemFrameworks{} }

func (f systemFrameworks) defineRight(name string, lasts time.Duration) error {
	defer f.entered()()
	c, free := cText(name)
	defer free()
	return failed("AuthorizationRightSet", C.fulmen_right_define(c, C.int32_t(lasts/time.Second)))
}

func (f systemFrameworks) checkRight(name string, form [formLength]byte) error {
	defer f.entered()()
	c, free := cText(name)
	defer free()
	var shown [C.FULMEN_FORM_LENGTH]C.uint8_t
	for i, b := range form {
		shown[i] = C.uint8_t(b)
	}
	result := C.fulmen_right_check(c, &shown[0])
	if result == C.FULMEN_REFUSED {
		return ErrNotAuthorized
	}
	return failed("AuthorizationCopyRights", result)
}
