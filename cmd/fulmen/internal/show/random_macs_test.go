package show

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// randomFacts are what a Mac says of itself, as a scenario has it; below 0 is what the
// scenario does not say.
type randomFacts struct {
	chip                  string
	kind                  api.GPUMemory
	totalMB, usedMB       int
	workingGB             int
	use, watts, celsius   float64 // use is a ratio, the others in steps of a half
	battery               float64
	heat                  api.ThermalState
	source                api.PowerSource
	pressure              api.Pressure
	tflops                float64
	gigabytesPerS, agoMin int // of the measurement
	state                 randomState
	stateS                int // for how long
}

// randomState is how a Mac is, seen from the first one, with the words of each screen.
type randomState struct {
	liveness   api.Liveness
	self       api.SelfState // what it screenTexts last
	reason     api.Reason
	page, tone string
	menu, text string
	severity   api.Severity // of the condition; empty where there is none
}

var randomStates = []randomState{
	{api.LivenessAlive, "", "", "Connected", "good", "", "", ""},
	{api.LivenessSuspect, "", "", "Just stopped answering", "warn", "not answering", "It has just stopped answering", api.SeverityWarning},
	{api.LivenessUnreachable, "", "", "Not reached", "bad", "not reachable for %s", "It does not answer on any path", api.SeverityWarning},
	{api.LivenessUnreachable, api.SelfStopping, "", "Not reached", "bad", "not reachable for %s", "Fulmen was stopped there", api.SeverityInfo},
	{api.LivenessUnreachable, api.SelfRestarting, api.ReasonShuttingDown, "Not reached", "bad", "not reachable for %s", "It is shutting down", api.SeverityInfo},
	{api.LivenessRestarting, api.SelfRestarting, "", "Restarting", "warn", "restarting", "It is restarting. It may be waiting at FileVault for a password", api.SeverityInfo},
	{api.LivenessAsleep, api.SelfAsleep, api.ReasonLidClosed, "Asleep", "warn", "asleep", "It went to sleep because its lid was closed", ""},
	{api.LivenessAsleep, api.SelfAsleep, "", "Asleep", "warn", "asleep", "It went to sleep", ""},
	{api.LivenessLeft, api.SelfLeft, "", "Has left", "plain", "has left", "It left the cluster", ""},
}

const missing = -1

// equip gives the Macs what they say of themselves.
func (d *randomCluster) equip(r *rand.Rand) {
	often := func(percent int) bool { return r.IntN(100) < percent }
	half := func(most int) float64 { return either(often(80), float64(r.IntN(2*most))/2, missing) }
	for i := range d.macs {
		f := randomFacts{totalMB: missing, usedMB: missing, workingGB: missing, battery: missing, tflops: missing, use: missing, heat: "nominal", source: "ac", pressure: "normal"}
		if often(90) {
			f.totalMB = 1024 * []int{8, 16, 24, 64, 512, 1024}[r.IntN(6)]
			f.usedMB = 512 * (1 + r.IntN(f.totalMB/512))
		}
		f.chip, f.kind = "Apple M4 Max", api.GPUMemoryUnified
		if often(25) {
			f.chip, f.kind = "", []api.GPUMemory{"", api.GPUMemoryDedicated, api.GPUMemoryNone}[r.IntN(3)]
			if f.kind == api.GPUMemoryDedicated && often(80) {
				f.workingGB = 8 << r.IntN(3)
			}
		}
		if often(80) {
			f.use = float64(r.IntN(201)) / 200
		}
		f.watts, f.celsius = half(400), half(100)
		if often(40) {
			f.battery = float64(r.IntN(201)) / 200
			f.source = either(often(50), api.PowerBattery, api.PowerSource("ac"))
		}
		if often(30) {
			f.heat = []api.ThermalState{"fair", "serious", "critical"}[r.IntN(3)]
		}
		if often(30) {
			f.pressure = []api.Pressure{"warning", "critical"}[r.IntN(2)]
		}
		if often(70) {
			f.tflops, f.gigabytesPerS, f.agoMin = float64(1+r.IntN(200))/4, 50+10*r.IntN(95), r.IntN(300)
		}
		if i > 0 && often(50) {
			f.state = randomStates[1+r.IntN(len(randomStates)-1)]
			if isCabled := slices.ContainsFunc(d.cables, func(c randomCable) bool { return c.ends[0].mac == i || c.ends[1].mac == i }); isCabled && f.state.liveness == api.LivenessLeft {
				f.state = randomStates[1]
			}
		} else {
			f.state = randomStates[0]
		}
		f.stateS = r.IntN(20000)
		d.macs[i].randomFacts = f
	}
}

func either[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}

// writeTo writes the part of a scenario that has it.
func (f *randomFacts) writeTo(b *strings.Builder) {
	line := func(is bool, format string, value any) {
		if is {
			fmt.Fprintf(b, format+"\n", value)
		}
	}
	line(f.chip != "", "chip = %q", f.chip)
	line(f.kind != "", "gpu_memory = %q", f.kind)
	line(f.totalMB >= 0, `memory = "%d MB"`, f.totalMB)
	line(f.usedMB > 0, `used = "%d MB"`, f.usedMB)
	line(f.workingGB >= 0, `gpu_working_set = "%d GB"`, f.workingGB)
	line(f.use >= 0, "gpu_use = %.3f", f.use)
	line(f.watts >= 0, "watts = %.1f", f.watts)
	line(f.celsius >= 0, "celsius = %.1f", f.celsius)
	line(f.battery >= 0, "battery = %.3f", f.battery)
	line(true, "thermal = %q", f.heat)
	line(true, "power = %q", f.source)
	line(true, "pressure = %q", f.pressure)
}

// isHere reports whether a Mac is reached.
func (f *randomFacts) isHere() bool { return f.state.liveness == api.LivenessAlive }

// settle gives what no scenario has its times, and has the Macs be what they are.
func (d *drawnCluster) settle(t *testing.T) {
	t.Helper()
	is := is.New(t)
	d.now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	silent := map[api.NodeID]api.Liveness{}
	for i, n := range d.Nodes {
		f := &d.macs[i].randomFacts
		since := api.TimeOf(d.now.Add(-time.Duration(f.stateS) * time.Second))
		for k := range d.Docs {
			doc := &d.Docs[k]
			var p api.GPUProfile
			if doc.Node == n.Node && doc.Kind == api.KindGPUProfile && doc.Decode(&p) == nil {
				p.MeasuredAt = api.TimeOf(d.now.Add(-time.Duration(f.agoMin) * time.Minute))
				is.NoErr(doc.SetValue(p))
			}
			var identity api.Identity
			if doc.Node == n.Node && doc.Kind == api.KindIdentity && doc.Decode(&identity) == nil {
				identity.BootedAt = api.TimeOf(d.now.Add(-26*time.Hour - 3*time.Minute))
				is.NoErr(doc.SetValue(identity))
			}
		}
		if f.state.self != "" {
			doc := api.Document{Node: n.Node, Kind: api.KindNodeState, Inc: 1, Seq: 2000, At: since, Simulated: true}
			is.NoErr(doc.SetValue(api.NodeState{State: f.state.self, Reason: f.state.reason, Since: since}))
			d.Docs = append(d.Docs, doc)
		} else {
			f.stateS = 300
		}
		if !f.isHere() {
			silent[n.Node] = f.state.liveness
		}
		if f.state.liveness == api.LivenessRestarting {
			silent[n.Node] = api.LivenessUnreachable
		}
	}
	d.list, d.conditions = d.Seen(api.TimeOf(d.now.Add(-5*time.Minute)), silent)
}

// Numbers as each screen writes them.

func halfUp(v float64) int { return int(math.Floor(v + 0.5)) }

// three are three digits that count, zeros with them.
func three(v float64) string {
	places, scale := 2, 100.0
	for places > 0 && halfUp(v*scale) >= 1000 {
		places, scale = places-1, scale/10
	}
	return fmt.Sprintf("%.*f", places, float64(halfUp(v*scale))/scale)
}

func trimZeros(s string) string { return strings.TrimSuffix(strings.TrimRight(s, "0"), ".") }

func binary(mb int) string {
	v, unit := float64(mb), "MiB"
	for _, next := range []string{"GiB", "TiB"} {
		if v >= 1023.5 {
			v, unit = v/1024, next
		}
	}
	if mb == 0 {
		return "0 B"
	}
	return three(v) + " " + unit
}

func gigabytesOf(mb int) string { return fmt.Sprint(halfUp(float64(mb) / 1024)) }

// decimal is a rate given in GB/s.
func decimal(gb int) string {
	if gb >= 1000 {
		return three(float64(gb)/1000) + " TB/s"
	}
	return three(float64(gb)) + " GB/s"
}

func percents(ratio float64) string { return fmt.Sprintf("%d %%", halfUp(100*ratio)) }

// span is a length of time in its two greatest units.
func span(s int) string {
	part := func(big, small int, bigName, smallName string) string {
		out := fmt.Sprintf("%d %s", s/big, bigName)
		if rest := s % big / small; rest > 0 {
			out += fmt.Sprintf(" %d %s", rest, smallName)
		}
		return out
	}
	switch {
	case s == 0:
		return "0 µs"
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return part(60, 1, "min", "s")
	}
	return part(3600, 60, "h", "min")
}

// minutes is the same as the menu has it, which seldom changes.
func minutes(s int) string {
	switch {
	case s < 60:
		return "less than a minute"
	case s < 3600:
		return fmt.Sprintf("%d min", s/60)
	}
	return span(s / 60 * 60)
}
