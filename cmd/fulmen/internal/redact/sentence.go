package redact

import (
	"context"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"

	"fulmen/daemon/api"
)

// mostErrno is beyond the numbers of errors that macOS and Linux have.
const mostErrno = 140

// sentences are the constant texts of Fulmen and of the system: what a reason says, and
// what errors of the system say after what they are about.
var sentences = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, r := range api.Reasons() {
		all[r.Text], all[r.Remedy] = true, true
	}
	for n := range syscall.Errno(mostErrno) {
		all[n.Error()] = true
	}
	for _, err := range []error{context.Canceled, context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed,
		os.ErrDeadlineExceeded, os.ErrNotExist, os.ErrExist, os.ErrPermission} {
		all[err.Error()] = true
	}
	for _, call := range []string{"connect", "bind", "read", "write"} {
		all[call] = true
	}
	return all
})

func isSentence(s string) bool { return sentences()[s] }

func anySentence(parts []string) bool { return slices.ContainsFunc(parts, isSentence) }
