package proc

import (
	"net"
	"os"
	"strconv"
	"syscall"
	"testing"
)

// listen gives an address, and a channel that is closed when somebody dials it.
func listen(t *testing.T) (address string, dialled <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	arrived := make(chan struct{})
	go func() {
		defer close(arrived)
		if c, err := l.Accept(); err == nil {
			c.Close()
		}
	}()
	return l.Addr().String(), arrived
}

// endOf ends a process that a test left on purpose, and tells whether it is gone.
func endOf(t *testing.T, pid string) func() bool {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil || n < 2 {
		t.Fatalf("no process id: %q", pid)
	}
	return func() bool {
		_ = syscall.Kill(n, syscall.SIGKILL)
		fields := stat(pid)
		return fields == nil || fields[0] == "Z" || fields[1] == strconv.Itoa(os.Getpid())
	}
}
