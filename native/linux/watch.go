package linux

import (
	"errors"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"fulmen/native"
)

// hintSource is one way in which the kernel announces changes.
type hintSource struct {
	// areas are those that would move in silence without it.
	areas []native.Area
	// open arms it. Its error is a [native.UnsupportedError], whose reason is
	// that of the capability.
	open func(*machine) ([]listener, error)
}

// listener is an open descriptor by which the kernel speaks.
type listener interface {
	// fd is to be polled for interest, as poll(2) has it.
	fd() int
	interest() int16
	// ready takes all that is there, without blocking, and names each thing that
	// was spoken of. An error means that nothing more will come from it.
	ready(revents int16, report announce) error
	close() error
}

// announce says that facts of an area may have changed, by the names of a
// [native.Hint].
type announce func(area native.Area, source, subject string)

// watch is a goroutine that waits in poll(2) for the listeners and for the end. The
// runtime's poller will not do: it asks about readiness before it wakes anybody, and
// asking takes a pending pressure event away.
type watch struct {
	machine   *machine
	areas     [][]native.Area // of each listener
	listeners []listener
	end       *os.File // closed to end the goroutine
	ended     *os.File // its other side, which is polled
	running   sync.WaitGroup
	once      sync.Once
	err       error

	hint func(native.Hint)
}

// Watch arms every source that works here. The capabilities say which do not.
// stop must not be called by the callback, for whose end it waits.
func (m *machine) Watch(hint func(native.Hint)) (stop func() error, err error) {
	w := &watch{machine: m, hint: hint}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, native.ErrClosed
	}
	refusals := native.Unsupported(native.HintsFeature(native.AreaIdentity), native.ReasonNoPlatform.With("no source of events is available"))
	for _, source := range m.sources {
		opened, err := source.open(m)
		refusals = errors.Join(refusals, err)
		for _, l := range opened {
			w.areas = append(w.areas, source.areas)
			w.listeners = append(w.listeners, l)
		}
	}
	if len(w.listeners) == 0 {
		return nil, refusals
	}
	if err := w.begin(); err != nil {
		return nil, err
	}
	m.watches = append(m.watches, w)
	return w.stop, nil
}

// begin starts the goroutine, or closes the listeners.
func (w *watch) begin() (err error) {
	if w.ended, w.end, err = os.Pipe(); err != nil {
		return errors.Join(err, closeAll(w.listeners))
	}
	w.running.Go(w.run)
	return nil
}

func (w *watch) run() {
	fds := []unix.PollFd{{Fd: int32(w.ended.Fd()), Events: unix.POLLIN}}
	for _, l := range w.listeners {
		fds = append(fds, unix.PollFd{Fd: int32(l.fd()), Events: l.interest()})
	}
	for {
		_, err := unix.Poll(fds, -1)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
			continue
		}
		if err != nil {
			w.lost(slices.Concat(w.areas...), err)
			return
		}
		if fds[0].Revents != 0 {
			return
		}
		for i, l := range w.listeners {
			revents := fds[i+1].Revents
			if revents == 0 {
				continue
			}
			if err := l.ready(revents, w.emit); err != nil {
				fds[i+1].Fd = -1 // poll(2) passes it over
				w.lost(w.areas[i], err)
			}
		}
	}
}

// lost tells areas that hints have ended.
func (w *watch) lost(areas []native.Area, err error) {
	for _, area := range slices.Compact(slices.Sorted(slices.Values(areas))) {
		w.emit(area, "watch.lost", err.Error())
	}
}

func (w *watch) emit(area native.Area, source, subject string) {
	clock := w.machine.clock
	w.hint(native.Hint{
		Area: area, Source: source, Subject: subject,
		At: native.Stamp(clock.Now()), BootUS: clock.Boot().Microseconds(),
	})
}

// stop ends the goroutine, waits for it and closes the listeners.
func (w *watch) stop() error {
	w.once.Do(func() {
		err := w.end.Close()
		w.running.Wait()
		w.err = errors.Join(err, w.ended.Close(), closeAll(w.listeners))
		w.machine.forget(w)
	})
	return w.err
}

func closeAll(listeners []listener) error {
	var err error
	for _, l := range listeners {
		err = errors.Join(err, l.close())
	}
	return err
}
