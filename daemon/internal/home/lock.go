package home

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"fulmen/daemon/api"
)

// lockRetry is how often a lock that is waited for is tried again: flock has no
// deadline and announces nothing.
const lockRetry = 20 * time.Millisecond

// Lock is a file that this process holds locked. The kernel lets go of it when
// the process ends, however it ends.
type Lock struct {
	file *os.File
}

// TryLock locks the file, which is made if missing, and writes this process's
// id into it. If another process holds it, or this one does already, the error
// has api.ReasonAlreadyRunning and names the process, or says that it is unknown.
func TryLock(path string) (*Lock, error) {
	for {
		l, err := lockOnce(path)
		if l != nil || err != nil {
			return l, err
		}
	}
}

// WaitLock is TryLock for as long as ctx lasts; the error at the end is the
// last refusal.
func WaitLock(ctx context.Context, path string) (*Lock, error) {
	for {
		l, err := TryLock(path)
		if err == nil || !errors.Is(err, api.ReasonAlreadyRunning) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(lockRetry):
		}
	}
}

// Release ends the lock. The file stays: removing it would let two processes
// lock two files of the same name.
func (l *Lock) Release() error {
	return errors.Join(l.file.Truncate(0), l.file.Close())
}

// lockOnce returns nothing at all if the file was replaced while it was locked.
func lockOnce(path string) (*Lock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, Explain(err, "open the lock", path)
	}
	if err := flock(file); err != nil {
		defer file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, held(path, file)
		}
		return nil, Explain(err, "lock", path)
	}
	if !same(path, file) {
		return nil, file.Close()
	}
	pid := strconv.Itoa(os.Getpid()) + "\n"
	if err := errors.Join(file.Truncate(0), writeAt(file, pid)); err != nil {
		return nil, errors.Join(Explain(err, "write", path), file.Close())
	}
	return &Lock{file}, nil
}

func writeAt(file *os.File, s string) error {
	_, err := file.WriteAt([]byte(s), 0)
	return err
}

func flock(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// same reports whether path still is the file that was opened.
func same(path string, file *os.File) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(opened, there)
}

// held is the refusal, with the holder as far as it is known. What the file
// says is believed only if such a process exists.
func held(path string, file *os.File) error {
	who := "an unknown process"
	if pid, ok := holder(file); ok {
		who = fmt.Sprintf("process %d", pid)
	}
	return api.Errorf(api.ReasonAlreadyRunning, path, "%s is held by %s.", path, who).WithWait(who).
		WithRemedy("Stop it first, or set " + api.EnvHome + " to run a second daemon beside it.")
}

func holder(file *os.File) (int, bool) {
	text, err := io.ReadAll(io.NewSectionReader(file, 0, 32))
	if err != nil {
		return 0, false
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(text)))
	if err != nil || pid <= 0 {
		return 0, false
	}
	// Signal 0 asks whether the process exists; one of another account does.
	err = syscall.Kill(pid, 0)
	return pid, err == nil || errors.Is(err, syscall.EPERM)
}
