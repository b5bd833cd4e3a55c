package placement

import (
	"errors"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// TestPlacementAgreesWithReadiness places a job on two Macs over RDMA, once for
// everything that can be amiss there, and wants a plan where and only where the
// readiness of the cable says that it is ready, and else one of its causes.
func TestPlacementAgreesWithReadiness(t *testing.T) {
	studios := draw(t, "two-studios")
	rdma := func(change func(r *api.RDMA)) func(*testing.T, *api.Document) {
		return func(t *testing.T, d *api.Document) { revise(t, d, api.KindRDMA, "4", change) }
	}
	port := func(change func(p *api.Thunderbolt)) func(*testing.T, *api.Document) {
		return func(t *testing.T, d *api.Document) { revise(t, d, api.KindThunderbolt, "4", change) }
	}
	network := func(change func(i *api.Interface)) func(*testing.T, *api.Document) {
		return func(t *testing.T, d *api.Document) {
			revise(t, d, api.KindNetwork, "", func(n *api.Network) {
				for i := range n.Interfaces {
					if n.Interfaces[i].Name == "en5" {
						change(&n.Interfaces[i])
					}
				}
			})
		}
	}
	for _, c := range []struct {
		name   string
		change func(*testing.T, *api.Document)
		want   api.RDMAVerdict
	}{
		{"nothing", func(*testing.T, *api.Document) {}, api.RDMAReady},
		{"the switch", rdma(func(r *api.RDMA) { r.SwitchedOn, r.Device = new(false), nil }), api.RDMANeedsPerson},
		{"the system", rdma(func(r *api.RDMA) { r.OSCapable, r.Device = new(false), nil }), api.RDMANeedsPerson},
		{"the hardware", rdma(func(r *api.RDMA) { r.HardwareCapable = new(false) }), api.RDMACannot},
		{"the device", rdma(func(r *api.RDMA) { r.Device = nil }), api.RDMAUnknown},
		{"the state of its port", rdma(func(r *api.RDMA) { r.Device.PortState = api.RDMAPortDown }), api.RDMANeedsPerson},
		{"its address", rdma(func(r *api.RDMA) { r.Device.GIDs = r.Device.GIDs[:1] }), api.RDMANeedsPerson}, // by a service of its own
		{"the bridge", network(func(i *api.Interface) { i.Bridge = "bridge0" }), api.RDMANeedsPerson},
		{"the speed", port(func(p *api.Thunderbolt) { p.Negotiated.TxBitsPerS, p.Negotiated.RxBitsPerS = 40e9, 40e9 }), api.RDMANeedsPerson},
		{"the offer", port(func(p *api.Thunderbolt) { p.Peers[0].Services = []api.ThunderboltService{api.ServiceIP} }), api.RDMAReady}, // the ports are active
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			on := studios.with()
			for i := range on.docs {
				if on.docs[i].Node == studios.other() {
					c.change(t, &on.docs[i])
				}
			}
			in, _ := inputOf(source{Documents: on.docs})
			reports := in.Graph.Readiness()
			is.Equal(len(reports), 1)
			is.Equal(reports[0].Verdict, c.want)
			r := on.place(t, api.Placement{Ranks: 2, Backend: api.BackendJACCL})
			is.Equal(r.Plan != nil, c.want == api.RDMAReady)
			if r.Plan != nil {
				return
			}
			named := false
			for _, cause := range reports[0].Causes {
				named = named || errors.Is(r.Err(), cause.Reason)
			}
			is.True(named) // what placement says is in the way, readiness says too
		})
	}
}

// revise changes the value of a document if it is the one of that kind and name.
func revise[V any](t *testing.T, d *api.Document, kind api.Kind, name string, change func(*V)) {
	t.Helper()
	if d.Kind != kind || d.Name != name {
		return
	}
	var value V
	if err := d.Decode(&value); err != nil {
		t.Fatal(err)
	}
	change(&value)
	if err := d.SetValue(value); err != nil {
		t.Fatal(err)
	}
}
