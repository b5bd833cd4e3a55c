package bound

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"

	"github.com/matryer/is"
)

// TestWhatMacOSDenies: no route to an address on a link is a refusal; to another one, or
// from a host that does not answer, it is not.
func TestWhatMacOSDenies(t *testing.T) {
	is := is.New(t)
	_, link, err := net.ParseCIDR("192.168.1.0/24")
	is.NoErr(err)
	own := []net.Addr{link, &net.UnixAddr{}}
	for _, c := range []struct {
		err  error
		to   string
		want bool
	}{
		{syscall.EHOSTUNREACH, "192.168.1.7", true},
		{syscall.EHOSTUNREACH, "169.254.8.1", true},
		{syscall.EHOSTUNREACH, "fe80::1%en5", true},
		{syscall.EHOSTUNREACH, "10.0.0.1", false},
		{syscall.EHOSTDOWN, "192.168.1.7", false},
		{syscall.ECONNREFUSED, "192.168.1.7", false},
		{errors.New("other"), "fe80::1%en5", false},
	} {
		err := fmt.Errorf("dial: %w", &net.OpError{Err: os.NewSyscallError("connect", c.err)})
		is.Equal(isDenied(err, netip.MustParseAddr(c.to), own), c.want)
	}
}
