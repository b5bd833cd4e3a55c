package activation

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"fulmen/native/darwin"
)

// Sockets are those that were handed over. They stay open until Close, so that
// listeners can be made of them more than once.
type Sockets []*os.File

// Take takes over what was handed to this process. It is called once, before the
// process starts others. Names are those under which launchd is asked; systemd says
// which ones it hands over, under whatever names. Nothing at all is no error, and
// empty: a program that was started in a terminal.
func Take(names ...string) (Sockets, error) {
	handed, err := fromEnvironment(os.Getenv, os.Getpid())
	// A program that this one starts would take them for its own.
	for _, name := range []string{envPID, envCount, envNames} {
		err = errors.Join(err, os.Unsetenv(name))
	}
	if err != nil {
		return nil, err
	}
	var s Sockets
	for i, name := range handed {
		s = append(s, os.NewFile(uintptr(firstDescriptor+i), name))
	}
	if len(handed) == 0 && runtime.GOOS == "darwin" {
		for _, name := range names {
			files, err := darwin.LaunchdSockets(name)
			if err != nil {
				return nil, errors.Join(err, s.Close())
			}
			s = append(s, files...)
		}
	}
	for _, file := range s {
		if err := check(file); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// check refuses what is no listening socket, and keeps it from other programs.
func check(file *os.File) error {
	descriptor := int(file.Fd())
	listens, err := unix.GetsockoptInt(descriptor, unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
	if err == nil && listens == 0 {
		err = errors.New("it does not listen")
	}
	if err != nil {
		return fmt.Errorf("descriptor %d (%s), which the supervisor handed over, cannot be used: %w", descriptor, file.Name(), err)
	}
	unix.CloseOnExec(descriptor)
	return nil
}

// Len is how many there are.
func (s Sockets) Len() int { return len(s) }

// Listen makes a listener of each. Closing one leaves the socket as it is: who
// connects meanwhile waits until somebody accepts.
func (s Sockets) Listen() ([]net.Listener, error) {
	var all []net.Listener
	for _, file := range s {
		listener, err := net.FileListener(file)
		if err != nil {
			for _, opened := range all {
				err = errors.Join(err, opened.Close())
			}
			return nil, fmt.Errorf("socket %s, which the supervisor handed over, cannot be used: %w", file.Name(), err)
		}
		all = append(all, listener)
	}
	return all, nil
}

// Close lets go of the sockets. Whoever handed them over has its own.
func (s Sockets) Close() error {
	var err error
	for _, file := range s {
		err = errors.Join(err, file.Close())
	}
	return err
}
