//go:build cgo && (darwin || (linux && darwinsim))

package darwin

// #include "activate.h"
import "C"

import "os"

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
