package probe

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
)

func TestFaults(t *testing.T) {
	_, gone := net.InterfaceByName("no such interface")
	dial := func(err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("setsockopt", err)}
	}
	for name, c := range map[string]struct {
		err  error
		lost bool // the interface has the address no more
		want api.Reason
	}{
		"no such device":                {dial(syscall.ENODEV), false, api.ReasonLinkGone},
		"no such interface":             {gone, false, api.ReasonLinkGone},
		"the interface is down":         {dial(syscall.ENETDOWN), false, api.ReasonLinkDown},
		"the address is not there":      {dial(syscall.EADDRNOTAVAIL), false, api.ReasonAddressLost},
		"refused":                       {dial(syscall.ECONNREFUSED), false, api.ReasonUnreachable},
		"reset":                         {syscall.ECONNRESET, false, api.ReasonUnreachable},
		"the end":                       {io.EOF, false, api.ReasonUnreachable},
		"the end, and no address":       {io.EOF, true, api.ReasonAddressLost},
		"a stall, and no address":       {api.NewError(api.ReasonPeerStalled, ""), true, api.ReasonAddressLost},
		"a refusal, and no address":     {api.NewError(api.ReasonJobHasNode, ""), true, api.ReasonJobHasNode},
		"no time left":                  {&native.DeadlineError{WaitingFor: "it", After: time.Second}, false, api.ReasonDeadline},
		"cancelled":                     {context.Canceled, false, api.ReasonCancelled},
		"what nobody says":              {errFrame, false, api.ReasonPeerImplausible},
		"a machine without connections": {native.Unsupported(native.FeatureSockets, ""), false, api.ReasonUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			p := &Prober{cfg: Config{Log: slog.New(slog.DiscardHandler), Interface: func(netip.Addr) (string, bool) { return "en1", !c.lost }}}
			m := &asking{prober: p, ctx: t.Context(), path: there}
			got := m.fault(c.err)
			is.Equal(got.Data.Reason, c.want)
			is.True(got.Code != api.CodeInternal)
			is.True(got.Message != "")
			is.True(m.fault(nil) == nil)
		})
	}
}
