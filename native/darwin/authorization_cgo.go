//go:build cgo && (darwin || (linux && darwinsim))

package darwin

/*
#cgo darwin LDFLAGS: -framework Security
#include "activate.h"
#include "authorization.h"
#include "result.h"
*/
import "C"

import (
	"os"
	"time"
)

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

// mostActivated is more than one name ever stands for: an address of each family.
const mostActivated = 8

// LaunchdSockets gives the sockets that launchd holds for this process under a name
// of its property list. There are none where launchd did not start the process, has
// no socket of that name (its address was taken), or has handed it over before.
func LaunchdSockets(name string) ([]*os.File, error) { return systemFrameworks{}.sockets(name) }

func (f systemFrameworks) sockets(name string) ([]*os.File, error) {
	defer f.entered()()
	c, free := cText(name)
	defer free()
	var descriptors [mostActivated]C.int
	var count C.size_t
	if err := failed("launch_activate_socket", C.fulmen_activate(c, &descriptors[0], mostActivated, &count)); err != nil {
		return nil, err
	}
	var files []*os.File
	for _, descriptor := range descriptors[:count] {
		files = append(files, os.NewFile(uintptr(descriptor), name))
	}
	return files, nil
}
