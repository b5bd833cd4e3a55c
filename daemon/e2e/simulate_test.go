package e2e

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// change makes one change of the simulated cluster.
func change(t *testing.T, c *client.Client, line string) {
	t.Helper()
	call[api.Empty](t, c, "daemon.simulate", api.DaemonSimulateParams{Line: line})
}

// settled waits for a document of which the value fits, and gives the value.
func settled[V any](t *testing.T, c *client.Client, kind api.Kind, name, what string, fits func(V) bool) V {
	t.Helper()
	var value V
	until(t, c, kind, what, func(d api.Document) bool {
		var v V
		if d.Name != name || d.Decode(&v) != nil || !fits(v) {
			return false
		}
		value = v
		return true
	})
	return value
}

// isPlugged and isEmpty are about receptacle 4 of studio-1, where the cable is.
func isPlugged(p api.Thunderbolt) bool {
	return *p.Connected && len(p.Peers) == 1 && p.Negotiated != nil
}
func isEmpty(p api.Thunderbolt) bool {
	return !*p.Connected && len(p.Peers) == 0 && p.Negotiated == nil
}

// en5 is the network interface of that receptacle.
func en5(n api.Network) api.Interface {
	for _, one := range n.Interfaces {
		if one.Name == "en5" {
			return one
		}
	}
	return api.Interface{}
}

func TestSimulatedMac(t *testing.T) {
	is := is.New(t)
	folder := newHome(t)
	r := simulated(t, folder, "two-studios")
	c := r.dial()
	info := call[api.DaemonInfoResult](t, c, "daemon.info", nil)
	is.Equal(info.Scenario, "two-studios")
	identity := settled(t, c, api.KindIdentity, "", "identity", func(api.Identity) bool { return true })
	is.Equal(identity.Platform, api.PlatformDarwin)
	is.Equal(identity.Chip, "Apple M3 Ultra")

	plugged := settled(t, c, api.KindThunderbolt, "4", "plugged port", isPlugged)
	is.Equal(plugged.Interface, "en5")
	is.Equal(plugged.Negotiated.TxBitsPerS, int64(80e9))
	settled(t, c, api.KindRDMA, "4", "active device", func(v api.RDMA) bool {
		return v.Device != nil && v.Device.Name == "rdma_en5" && v.Device.PortState == api.RDMAPortActive
	})
	settled(t, c, api.KindNetwork, "", "link of en5", func(n api.Network) bool {
		return en5(n).PortNumber == 4 && *en5(n).Link && !en5(n).Service.Ours
	})

	change(t, c, "unplug studio-1.tb4")
	settled(t, c, api.KindThunderbolt, "4", "empty port", isEmpty)
	settled(t, c, api.KindRDMA, "4", "device without a partner", func(v api.RDMA) bool {
		return v.Device == nil || v.Device.PortState == api.RDMAPortDown
	})
	settled(t, c, api.KindNetwork, "", "end of the link of en5", func(n api.Network) bool { return !*en5(n).Link })

	change(t, c, "plug studio-1.tb2 studio-2.tb4 40G")
	moved := settled(t, c, api.KindThunderbolt, "2", "plugged port", isPlugged)
	is.Equal(moved.Negotiated.TxBitsPerS, int64(40e9))
	is.Equal(moved.Peers[0].DomainUUID, plugged.Peers[0].DomainUUID) // the same Mac, in another receptacle

	// A switch takes a restart.
	change(t, c, "set studio-1.rdma off")
	settled(t, c, api.KindRDMA, "1", "switch that is off", func(v api.RDMA) bool { return !*v.SwitchedOn && v.Device == nil })
	change(t, c, "set studio-1.rdma on")
	settled(t, c, api.KindRDMA, "1", "device", func(v api.RDMA) bool { return *v.SwitchedOn && v.Device != nil })

	change(t, c, "set studio-1.memory.pressure critical")
	settled(t, c, api.KindMemory, "", "pressure", func(m api.Memory) bool { return m.Pressure == api.PressureCritical })
	for _, line := range []string{"thermal serious", "thermal critical", "power battery", "battery 0.12"} {
		change(t, c, "set studio-1."+line)
	}
	for _, code := range []api.Reason{api.ReasonMemoryCritical, api.ReasonThermalCritical, api.ReasonBatteryLow} {
		reported := settled(t, c, api.KindCondition, string(code), string(code), func(api.Condition) bool { return true })
		is.True(strings.HasSuffix(reported.Text, ": studio-1."))
	}
	change(t, c, "sleep studio-1")
	settled(t, c, api.KindNodeState, "", "sleep", func(s api.NodeState) bool { return s.State == api.SelfAsleep })
	change(t, c, "wake studio-1")
	settled(t, c, api.KindNodeState, "", "wake", func(s api.NodeState) bool { return s.State == api.SelfAwake })

	for _, document := range call[api.StateGetResult](t, c, "state.get", api.StateSelect{}).Docs {
		is.True(document.Simulated) // every one
	}

	// A key of its own, and the same again after a restart.
	is.True(strings.HasSuffix(info.StateFolder, "/simulated/two-studios/studio-1"))
	is.NoErr(r.end())
	is.Equal(call[api.DaemonInfoResult](t, simulated(t, folder, "two-studios").dial(), "daemon.info", nil).Node, info.Node)
}

// A source that falls silent keeps what it said, and says so.
func TestSilentSource(t *testing.T) {
	is := is.New(t)
	c := simulated(t, newHome(t), "two-studios").dial()
	settled(t, c, api.KindThunderbolt, "4", "plugged port", isPlugged)
	change(t, c, "set studio-1.thunderbolt.told no")
	silent := until(t, c, api.KindThunderbolt, "silence", func(d api.Document) bool { return d.Name == "4" && d.Unknown["thunderbolt"] != "" })
	var port api.Thunderbolt
	is.NoErr(silent.Decode(&port))
	is.True(isPlugged(port))
	change(t, c, "set studio-1.thunderbolt.told yes")
	until(t, c, api.KindThunderbolt, "voice", func(d api.Document) bool { return d.Name == "4" && d.Unknown["thunderbolt"] == "" })
}

func TestSimulateRefusals(t *testing.T) {
	is := is.New(t)
	c := simulated(t, newHome(t), "two-studios").dial()
	for _, line := range []string{"", "pull studio-1.tb4", "unplug studio-9.tb1", "unplug studio-1.tb3", "plug studio-1.tb4 studio-2.tb1", "set studio-1.rdma maybe"} {
		_, err := client.Call[api.Empty](context.Background(), c, "daemon.simulate", api.DaemonSimulateParams{Line: line})
		known := api.AsError(err)
		is.True(errors.Is(err, api.CodeInvalid))
		is.Equal(known.Data.Subject, "line")
		is.True(strings.Contains(known.Message, strings.SplitN(line+" ", " ", 2)[0])) // says which
	}

	real := start(t, newHome(t)).dial()
	_, err := client.Call[api.Empty](context.Background(), real, "daemon.simulate", api.DaemonSimulateParams{Line: "unplug studio-1.tb4"})
	is.True(errors.Is(err, api.ReasonNotSimulated))
	is.Equal(call[api.DaemonInfoResult](t, real, "daemon.info", nil).Scenario, "")
}

// The graph moves with the documents, and conditions with both.
func TestLinksOfASimulatedMac(t *testing.T) {
	is := is.New(t)
	r := simulated(t, newHome(t), "two-studios")
	c := r.dial()
	settled(t, c, api.KindThunderbolt, "4", "plugged port", isPlugged)
	node := call[api.DaemonInfoResult](t, c, "daemon.info", nil).Node
	end := api.LinkEnd{Node: node, PortNumber: 4}

	var got api.LinkGetResult
	eventually(t, "the cable in the graph", soon, func() bool { // which is drawn after the documents
		var err error
		got, err = client.Call[api.LinkGetResult](t.Context(), c, "link.get", api.LinkSelect{Link: "studio-1:4"})
		return err == nil
	})
	is.Equal(got.Cable.Ends[0].End, end)
	is.True(got.Cable.Simulated && got.Cable.OneSided) // of the other Mac's documents there are none here
	_, err := client.Call[api.LinkGetResult](context.Background(), c, "link.get", api.LinkSelect{Link: "studio-1:3"})
	is.True(errors.Is(err, api.ReasonNoSuchLink))
	export := call[api.LinkExportResult](t, c, "link.export", api.LinkExportParams{Form: api.ExportDOT})
	is.True(strings.Contains(export.Text, "studio-1"))
	_, err = client.Call[api.LinkExportResult](context.Background(), c, "link.export", api.LinkExportParams{Form: api.ExportMatrix})
	is.True(err != nil) // one node is no group

	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	watched, changes, err := client.Stream[api.LinkWatchResult, api.LinkChanged](ctx, r.dial(), "link.watch", api.Empty{})
	is.NoErr(err)
	next := make(chan api.LinkChanged)
	go func() {
		defer close(next)
		for one, err := range changes {
			if err != nil {
				return
			}
			next <- one
		}
	}()
	for cables := len(watched.Cables); cables == 0; { // it began before the graph was drawn with the cable
		one, more := <-next
		is.True(more)
		cables = len(one.Cables)
	}
	change(t, c, "unplug studio-1.tb4")
	for gone := []api.LinkEnd(nil); gone == nil; {
		one, more := <-next
		is.True(more)
		if gone = one.GoneCables; gone != nil {
			is.Equal(gone, []api.LinkEnd{end})
		}
	}

	// A cable that comes and goes is a condition, until it is quiet.
	name := "link_flapping/" + end.String()
	flapping := make(chan struct{})
	observer := r.dial()
	go func() {
		defer close(flapping) // also where it does not come: then nobody plugs for ever
		until(t, observer, api.KindCondition, "flapping link", func(d api.Document) bool { return d.Name == name })
	}()
	for plugged := false; ; plugged = !plugged {
		select {
		case <-flapping:
			return
		default:
		}
		if plugged {
			change(t, c, "unplug studio-1.tb4")
			settled(t, c, api.KindThunderbolt, "4", "empty port", isEmpty)
		} else {
			change(t, c, "plug studio-1.tb4 studio-2.tb4")
			settled(t, c, api.KindThunderbolt, "4", "plugged port", isPlugged)
		}
	}
}

func TestDoctorOfASimulatedMac(t *testing.T) {
	is := is.New(t)
	c := simulated(t, newHome(t), "two-studios").dial()
	settled(t, c, api.KindThunderbolt, "4", "plugged port", isPlugged)
	answers := map[string]api.DoctorCheck{}
	for _, check := range call[api.DaemonDoctorResult](t, c, "daemon.doctor", nil).Checks {
		answers[check.Check] = check
	}
	is.Equal(answers["thunderbolt"].Answer, api.AnswerYes)
	is.Equal(answers["cable"].Reason, api.ReasonPeerUnknown)
	is.True(strings.HasPrefix(answers["cable"].Text, "studio-1:4 - "))

	// Each fact of the hardware is as the Mac tells it now.
	count := map[api.Answer]int{}
	eventually(t, "every document", soon, func() bool { // they come one after the other
		clear(count)
		for _, check := range call[api.DaemonDoctorResult](t, c, "daemon.doctor", api.DaemonDoctorParams{Hardware: true}).Checks {
			count[check.Answer]++
		}
		return count[api.AnswerNo] == 0
	})
	is.True(count[api.AnswerYes] > 40)
	// A Mac that falls silent says nothing that could differ.
	change(t, c, "set studio-1.thunderbolt.told no")
	silent := api.DoctorCheck{}
	for _, check := range call[api.DaemonDoctorResult](t, c, "daemon.doctor", api.DaemonDoctorParams{Hardware: true}).Checks {
		if strings.HasPrefix(check.Text, "thunderbolt: ") {
			silent = check
		}
		is.True(check.Answer != api.AnswerNo)
	}
	is.Equal(silent.Answer, api.AnswerUnknown)
}

// What a scenario's time line does happens by itself.
func TestTimeLinePlays(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "later.toml")
	is.NoErr(os.WriteFile(file, []byte(`title = "a name that changes"
[[mac]]
name = "ada"
like = "mac-studio-m3-ultra"
memory = "96 GB"
os = "26.2/25C56"
[[at]]
after = "300ms"
do = "set ada.name Renamed"
`), 0o600))
	c := simulated(t, newHome(t), file).dial()
	settled(t, c, api.KindIdentity, "", "new name", func(v api.Identity) bool { return v.Name == "Renamed" })
}

// A simulated Mac in a real one's folder leaves its key and its state alone.
func TestSimulatedBesideReal(t *testing.T) {
	is := is.New(t)
	folder := newHome(t)
	node := func(r *rig) api.NodeID {
		c := r.dial()
		id := call[api.DaemonInfoResult](t, c, "daemon.info", nil).Node
		for _, one := range call[api.NodeConditionsResult](t, c, "node.conditions", api.NodeConditionsParams{}).Conditions {
			is.True(one.Code != api.ReasonKeyOnOtherHardware)
		}
		is.NoErr(r.end())
		return id
	}
	real := node(start(t, folder))
	first := node(simulated(t, folder, "two-studios:studio-1"))
	second := node(simulated(t, folder, "two-studios:studio-2"))
	is.True(real != first && real != second && first != second)
	is.Equal(node(start(t, folder)), real)
	is.Equal(node(simulated(t, folder, "two-studios:studio-1")), first)
}

// One folder runs one daemon, simulated or not.
func TestSimulatedTakesTheLock(t *testing.T) {
	is := is.New(t)
	folder := newHome(t)
	start(t, folder)
	simulation, err := daemon.OpenSimulation("two-studios")
	is.NoErr(err)
	defer simulation.World.Close()
	_, err = tryRun(t, folder, daemon.Options{Simulation: simulation})
	is.True(errors.Is(err, api.ReasonAlreadyRunning))
}
