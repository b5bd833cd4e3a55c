//go:build cgo && (darwin || (linux && darwinsim))

package darwin

/*
#cgo darwin LDFLAGS: -framework CoreServices
#include "folders.h"
*/
import "C"

import "runtime/cgo"

// systemFolder is what C has of a folder.
type systemFolder struct {
	handle cgo.Handle
	c      *C.fulmen_folder
}

func systemFolderEvents() folderEvents { return systemFrameworks{} }

func (f systemFrameworks) follow(one *followed) error {
	defer f.entered()()
	one.system.handle = cgo.NewHandle(one)
	path, free := cText(one.folder)
	defer free()
	err := failed("FSEventStreamStart", C.fulmen_folder_follow(C.uintptr_t(one.system.handle), path, &one.system.c))
	if err != nil {
		one.system.handle.Delete()
	}
	return err
}

func (f systemFrameworks) flush(one *followed) {
	defer f.entered()()
	C.fulmen_folder_flush(one.system.c)
}

func (f systemFrameworks) leave(one *followed) {
	defer f.entered()()
	C.fulmen_folder_leave(one.system.c)
	one.system.handle.Delete()
}

//export fulmenFolderChanged
func fulmenFolderChanged(handle C.uintptr_t, path *C.char, more C.int) {
	cgo.Handle(handle).Value().(*followed).announce(C.GoString(path), more != 0)
}
