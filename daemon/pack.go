package daemon

import (
	"io"
	"os"
	"os/signal"
	"syscall"

	"fulmen/daemon/internal/rank/files/pack"
	"fulmen/daemon/internal/rank/files/unpack"
	"fulmen/native"
)

// Pack sends a folder over the two streams, with the rights of this process and no
// others. It is the whole of a process of its own, which a daemon starts and
// gives its task over in.
func Pack(in io.Reader, out io.Writer) error {
	// A receiver that is gone is an error like any other.
	signal.Ignore(syscall.SIGPIPE)
	clock, err := native.SystemClock()
	if err != nil {
		return err
	}
	return pack.Run(in, out, clock)
}

// Unpack receives a folder over the two streams, with the rights of this process
// and no others, and says on descriptor 3 how it goes. It is the whole of a
// process of its own, which a daemon starts and gives its task over in.
func Unpack(in io.Reader, out io.Writer) error {
	signal.Ignore(syscall.SIGPIPE)
	clock, err := native.SystemClock()
	if err != nil {
		return err
	}
	reports := os.NewFile(3, "reports")
	defer reports.Close()
	return unpack.Run(in, out, reports, clock)
}
