package topology

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// A network is named by an interface of either end, or by a prefix of any form of an address
// of either.
func TestNamedNetworks(t *testing.T) {
	is := is.New(t)
	p := Permit([]string{"10.1.2.3/8", "en5", "fe80::/64", ""}, []netip.Prefix{netip.MustParsePrefix("192.168.0.0/16")})
	other := netip.MustParseAddr("11.0.0.1")
	for address, want := range map[string]bool{"10.9.9.9": true, "::ffff:10.9.9.9": true, "fe80::1%en0": true, "192.168.3.4": true, "11.0.0.2": false} {
		is.Equal(p.Has([2]string{"en0", ""}, [2]netip.Addr{netip.MustParseAddr(address), other}), want)
		is.Equal(p.Has([2]string{"en0", ""}, [2]netip.Addr{other, netip.MustParseAddr(address)}), want)
	}
	is.True(p.Has([2]string{"en0", "en5"}, [2]netip.Addr{other, other}))
	is.True(!p.Has([2]string{"", ""}, [2]netip.Addr{other, other})) // an interface that is not told has no name
}

// What is named for a host file has the same meaning as what is trusted, and as for a job.
func TestHostfileOverANamedNetwork(t *testing.T) {
	for _, c := range []struct {
		networks []string
		want     string // the first Mac's addresses, or part of the refusal
	}{
		{nil, "neither named nor trusted"},
		{[]string{"en1", "10.8.0.0/16"}, "neither named nor trusted"},
		{[]string{"utun4"}, "100.100.0.1"},
		{[]string{"100.100.0.2/32"}, "100.100.0.1"}, // either end
		{[]string{"100.64.0.0/10"}, "100.100.0.1"},
	} {
		for _, backend := range []api.Backend{api.BackendRing, api.BackendJACCL} {
			is := is.New(t)
			g := Build(Input{Nodes: withLANs(backend == api.BackendJACCL, "utun4 vpn 100.100.0.1/32")})
			result, err := g.Export(api.LinkExportParams{Form: api.ExportHostfile, Backend: backend, Networks: c.networks}, nil)
			if e := api.AsError(err); e != nil {
				is.True(strings.Contains(e.Data.Causes[0].Message, c.want))
				is.True(strings.Contains(e.Data.Causes[0].Remedy, "--network"))
				continue
			}
			is.Equal(strings.Join(parseHostfile(t, result.Text).Hosts[0].IPs, " "), c.want)
			for _, note := range result.Notes {
				is.Equal(note.Reason, api.ReasonUnencrypted) // no network is used that is not trusted
			}
			want := 0 // JACCL's data goes over cables
			if backend == api.BackendRing {
				want = 1 // of the one pair
			}
			is.Equal(len(result.Notes), want)
		}
	}
}

// Networks that can be none are refused, and those of a form that has no addresses.
func TestRefusedNetworks(t *testing.T) {
	g := Build(Input{Nodes: meshed(2, 1)})
	for name, c := range map[string]struct {
		form     api.ExportForm
		networks []string
		want     string
	}{
		"an empty one":   {api.ExportHostfile, []string{""}, "networks: one is empty"},
		"one too long":   {api.ExportHostfile, []string{strings.Repeat("e", 129)}, "networks: 129 bytes; at most 128 are taken"},
		"one not shown":  {api.ExportHostfile, []string{"en0\n"}, "networks: it holds characters that cannot be shown"},
		"too many":       {api.ExportHostfile, strings.Split(strings.Repeat("en0 ", 33), " ")[:33], "networks: 33 networks; at most 32 are taken"},
		"of a drawing":   {api.ExportDOT, []string{"en0"}, "networks: only a host file names addresses"},
		"of a matrix":    {api.ExportMatrix, []string{"en0"}, "networks: only a host file names addresses"},
		"the most there": {api.ExportHostfile, strings.Split(strings.Repeat("en0 ", 32), " ")[:32], ""},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, err := g.Export(api.LinkExportParams{Form: c.form, Backend: api.BackendJACCL, Networks: c.networks}, nil)
			if c.want == "" {
				is.NoErr(err)
				return
			}
			is.True(errors.Is(err, api.ReasonBadValue))
			is.Equal(api.AsError(err).Message, c.want)
			is.True(api.AsError(err).Data.Remedy != "")
		})
	}
}
