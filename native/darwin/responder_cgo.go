//go:build cgo && (darwin || (linux && darwinsim))

package darwin

// #include "dnssd.h"
import "C"

import (
	"errors"
	"os"
	"runtime/cgo"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// systemResponder is a connection to mDNSResponder.
type systemResponder struct {
	frameworks systemFrameworks
	handle     cgo.Handle
	c          *C.fulmen_dnssd
	descriptor int
	// ended is polled beside the descriptor, and readable once end is closed. The
	// runtime's poller would want the connection not to block, which its library
	// does not expect.
	ended, ending *os.File
	waiting       sync.Mutex // held by who waits, so that nothing is closed under it
	operations    map[int64]*C.fulmen_dnssd_operation
	events        []found

	closing sync.Mutex
	closed  bool
	over    bool // guarded by waiting
}

// connect opens a connection.
func (f systemFrameworks) connect() (responder, error) {
	defer f.entered()()
	r := &systemResponder{frameworks: f, operations: map[int64]*C.fulmen_dnssd_operation{}}
	r.handle = cgo.NewHandle(r)
	var descriptor C.int
	if err := failed("DNSServiceCreateConnection", C.fulmen_dnssd_open(C.uintptr_t(r.handle), &r.c, &descriptor)); err != nil {
		r.handle.Delete()
		return nil, err
	}
	var err error
	if r.ended, r.ending, err = os.Pipe(); err != nil {
		C.fulmen_dnssd_close(r.c)
		r.handle.Delete()
		return nil, err
	}
	r.descriptor = int(descriptor)
	return r, nil
}

func (r *systemResponder) wait() error {
	r.waiting.Lock()
	defer r.waiting.Unlock()
	if r.over {
		return os.ErrClosed
	}
	fds := []unix.PollFd{{Fd: int32(r.descriptor), Events: unix.POLLIN}, {Fd: int32(r.ended.Fd()), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, -1)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case fds[1].Revents != 0:
			return os.ErrClosed
		default:
			return nil
		}
	}
}

func (r *systemResponder) process() ([]found, error) {
	r.closing.Lock()
	defer r.closing.Unlock()
	if r.closed {
		return nil, os.ErrClosed
	}
	defer r.frameworks.entered()()
	r.events = nil
	err := failed("DNSServiceProcessResult", C.fulmen_dnssd_process(r.c))
	return r.events, err
}

// begin notes an operation that begin has started.
func (r *systemResponder) begin(call string, token int64, begin func(**C.fulmen_dnssd_operation) C.int) error {
	r.closing.Lock()
	defer r.closing.Unlock()
	if r.closed {
		return os.ErrClosed
	}
	defer r.frameworks.entered()()
	var operation *C.fulmen_dnssd_operation
	if err := failed(call, begin(&operation)); err != nil {
		return err
	}
	r.operations[token] = operation
	return nil
}

func (r *systemResponder) register(token int64, index int, instance, serviceType string, port int, txt []byte) error {
	c, free := cTexts(instance, serviceType)
	defer free()
	return r.begin("DNSServiceRegister", token, func(o **C.fulmen_dnssd_operation) C.int {
		return C.fulmen_dnssd_register(r.c, C.int64_t(token), C.uint32_t(index), c[0], c[1], C.uint16_t(port),
			unsafe.Pointer(unsafe.SliceData(txt)), C.uint16_t(len(txt)), o)
	})
}

func (r *systemResponder) browse(token int64, index int, serviceType string) error {
	t, free := cText(serviceType)
	defer free()
	return r.begin("DNSServiceBrowse", token, func(o **C.fulmen_dnssd_operation) C.int {
		return C.fulmen_dnssd_browse(r.c, C.int64_t(token), C.uint32_t(index), t, o)
	})
}

func (r *systemResponder) resolve(token int64, index int, instance, serviceType, domain string) error {
	c, free := cTexts(instance, serviceType, domain)
	defer free()
	return r.begin("DNSServiceResolve", token, func(o **C.fulmen_dnssd_operation) C.int {
		return C.fulmen_dnssd_resolve(r.c, C.int64_t(token), C.uint32_t(index), c[0], c[1], c[2], o)
	})
}

func (r *systemResponder) addresses(token int64, index int, host string) error {
	h, free := cText(host)
	defer free()
	return r.begin("DNSServiceGetAddrInfo", token, func(o **C.fulmen_dnssd_operation) C.int {
		return C.fulmen_dnssd_addresses(r.c, C.int64_t(token), C.uint32_t(index), h, o)
	})
}

func (r *systemResponder) end(token int64) {
	r.closing.Lock()
	defer r.closing.Unlock()
	r.endLocked(token)
}

func (r *systemResponder) endLocked(token int64) {
	operation := r.operations[token]
	if operation == nil {
		return
	}
	defer r.frameworks.entered()()
	delete(r.operations, token)
	C.fulmen_dnssd_end(operation)
}

func (r *systemResponder) close() error {
	r.closing.Lock()
	defer r.closing.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	err := r.ending.Close()
	r.waiting.Lock()
	defer r.waiting.Unlock()
	r.over = true
	for token := range r.operations {
		r.endLocked(token)
	}
	defer r.frameworks.entered()()
	C.fulmen_dnssd_close(r.c)
	r.handle.Delete()
	return errors.Join(err, r.ended.Close())
}

//export fulmenFound
func fulmenFound(handle C.uintptr_t, token C.int64_t, kind, added C.int, index C.uint32_t, failed C.int, text, domain *C.char,
	port C.uint16_t, data unsafe.Pointer, length C.int) {
	r := cgo.Handle(handle).Value().(*systemResponder)
	f := found{
		token: int64(token), kind: int(kind), added: added != 0, index: int(index), failed: int(failed), port: int(port),
		data: C.GoBytes(data, length),
	}
	if text != nil {
		f.text = C.GoString(text)
	}
	if domain != nil {
		f.domain = C.GoString(domain)
	}
	r.events = append(r.events, f)
}
