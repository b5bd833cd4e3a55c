//go:build cgo && (darwin || (linux && darwinsim))

package darwin

/*
#include "meters.h"
#include "watch.h"
*/
import "C"

import (
	"os"
	"runtime"
	"runtime/cgo"
	"sync"
	"syscall"
)

// systemLine is an armed watch of the system, with the thread that runs its loop.
type systemLine struct {
	frameworks systemFrameworks
	hear       func(announcement)
	handle     cgo.Handle
	watch      *C.fulmen_watch
	running    sync.WaitGroup
	ready      chan struct{} // closed once everything is armed

	thermal *os.File
	token   C.int
}

// open arms everything and returns once it is armed.
func (f systemFrameworks) open(hear func(announcement)) (line, error) {
	l := &systemLine{frameworks: f, hear: hear, ready: make(chan struct{})}
	l.handle = cgo.NewHandle(l)
	l.watch = C.fulmen_watch_new(C.uintptr_t(l.handle))
	if l.watch == nil {
		l.handle.Delete()
		return nil, &frameworkError{"a watch", resultMemory}
	}
	l.running.Go(l.run)
	<-l.ready
	if err := l.armed(fromWatch); err != nil {
		l.running.Wait()
		l.free()
		return nil, err
	}
	l.openThermal()
	return l, nil
}

// run is the thread of the CFRunLoop. It is never unlocked, so that it ends with
// the goroutine and its loop with it.
func (l *systemLine) run() {
	runtime.LockOSThread()
	defer l.frameworks.entered()()
	C.fulmen_watch_run(l.watch)
}

func (l *systemLine) armed(source int) error {
	return failed(sourceNames[source], C.fulmen_watch_armed(l.watch, C.int(source)))
}

func (l *systemLine) allow(notice int64) error {
	defer l.frameworks.entered()()
	return failed("IOAllowPowerChange", C.fulmen_watch_allow(l.watch, C.intptr_t(notice)))
}

// openThermal listens to the thermal pressure, which is announced through a
// descriptor. Without it the state is read and not heard of.
func (l *systemLine) openThermal() {
	defer l.frameworks.entered()()
	name, freeName := cText(C.FULMEN_THERMAL_PRESSURE)
	defer freeName()
	var descriptor C.int
	if C.fulmen_state_open(name, &descriptor, &l.token) != C.FULMEN_OK {
		return
	}
	if err := syscall.SetNonblock(int(descriptor), true); err != nil {
		closeDescriptor(int(descriptor))
		C.fulmen_state_close(l.token)
		return
	}
	l.thermal = os.NewFile(uintptr(descriptor), "thermal pressure")
	file := l.thermal
	l.running.Go(func() {
		for token := make([]byte, 4); ; {
			if _, err := file.Read(token); err != nil {
				return // closed
			}
			l.hear(announcement{source: fromThermal, event: "changed"})
		}
	})
}

func (l *systemLine) close() error {
	C.fulmen_watch_stop(l.watch)
	var err error
	if l.thermal != nil {
		err = l.thermal.Close()
	}
	l.running.Wait()
	if l.thermal != nil {
		C.fulmen_state_close(l.token)
	}
	l.free()
	return err
}

func (l *systemLine) free() {
	C.fulmen_watch_free(l.watch)
	l.handle.Delete()
}

//export fulmenHeard
func fulmenHeard(handle C.uintptr_t, source C.int, event, subject *C.char, id, detail C.int64_t) {
	l := cgo.Handle(handle).Value().(*systemLine)
	if source == C.FULMEN_WATCH {
		close(l.ready)
		return
	}
	l.hear(announcement{int(source), C.GoString(event), C.GoString(subject), int64(id), int64(detail)})
}

// closeDescriptor closes what C has opened.
func closeDescriptor(descriptor int) { _ = syscall.Close(descriptor) }
