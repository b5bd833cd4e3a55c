//go:build cgo && (darwin || (linux && darwinsim))

package darwin

/*
#cgo darwin LDFLAGS: -framework CoreServices
#include "folders.h"
*/
import "C"

import "runtime/cgo"

// systemStream is a stream of FSEvents.
type systemStream struct {
	frameworks systemFrameworks
	handle     cgo.Handle
	c          *C.fulmen_folder
}

func openStream(folder string, announce func(path string, more bool)) (stream, error) {
	return systemFrameworks{}.stream(folder, announce)
}

func (f systemFrameworks) stream(folder string, announce func(path string, more bool)) (stream, error) {
	defer f.entered()()
	s := &systemStream{frameworks: f, handle: cgo.NewHandle(announce)}
	path, free := cText(folder)
	defer free()
	if err := failed("FSEventStreamStart", C.fulmen_folder_follow(C.uintptr_t(s.handle), path, &s.c)); err != nil {
		s.handle.Delete()
		return nil, err
	}
	return s, nil
}

func (s *systemStream) flush() {
	defer s.frameworks.entered()()
	C.fulmen_folder_flush(s.c)
}

func (s *systemStream) leave() {
	defer s.frameworks.entered()()
	C.fulmen_folder_leave(s.c)
	s.handle.Delete()
}

//export fulmenFolderChanged
func fulmenFolderChanged(handle C.uintptr_t, path *C.char, more C.int) {
	cgo.Handle(handle).Value().(func(path string, more bool))(C.GoString(path), more != 0)
}
