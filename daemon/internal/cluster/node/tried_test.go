package node

import (
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// Who cannot join hears of each address what the system said of it, and nothing of Go.
func TestWhatWasTried(t *testing.T) {
	is := is.New(t)
	a, b := netip.MustParseAddrPort("192.168.1.3:7732"), netip.MustParseAddrPort("[fe80::1%en0]:7732")
	err := unreachable("", tried(a, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}), tried(b, net.ErrClosed))
	var reported []string
	for _, c := range api.AsError(err).Data.Causes {
		reported = append(reported, c.Message)
	}
	is.Equal(reported, []string{"192.168.1.3:7732 does not answer: connection refused.", "[fe80::1%en0]:7732 does not answer."})
}
