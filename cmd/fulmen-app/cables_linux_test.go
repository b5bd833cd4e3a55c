package main

import (
	"context"
	"errors"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// changesRDMA enables RDMA on a Thunderbolt 5 cable whose ports are in the
// Thunderbolt Bridge, and finds that the menu does not offer it on Thunderbolt 4.
func changesRDMA(t *testing.T, r *rig) {
	is := is.New(t)
	tb4 := []string{"Cables:", "studio-1 ↔ mini"}
	is.True(r.shows(append(tb4, "Enable RDMA…")...).disabled)
	is.True(r.shows(append(tb4, "Why Not?", "")...).disabled)
	is.NoErr(r.answer("yes", "yes"))
	r.click(append(tb4, "Enable RDMA…")...) // a desktop may send it all the same

	r.click("Cables:", "studio-1 ↔ studio-2", "Mute This Cable")
	r.checks("Cables:", "studio-1 ↔ studio-2", "Mute This Cable")
	r.click("Cables:", "studio-1 ↔ studio-2", "Mute This Cable")
	r.awaits("the cable not to be muted", func(all []line) bool {
		l, err := find(all, "Cables:", "studio-1 ↔ studio-2", "Mute This Cable")
		return err == nil && !l.checked
	})

	_, err := client.Call[api.RDMAChangeResult](t.Context(), r.Nodes[0].Client, "rdma.enable", api.RDMAChangeParams{AllReady: true, DryRun: true})
	if errors.Is(err, api.ReasonNotBuiltYet) {
		t.Skip(err)
	}
	// The other end lets it happen.
	_, err = client.Call[api.Sharing](t.Context(), r.Nodes[1].Client, "cluster.set_sharing", api.ClusterSetSharingParams{RDMAChanges: api.ChangesMembers})
	is.NoErr(err)
	r.confirms("Cables:", "studio-1 ↔ studio-2", "Enable RDMA…")
	for _, e := range r.does("zenity --question", "Enable RDMA between studio-1 ↔ studio-2?") {
		is.True(!hasAll(e, []string{"mini"})) // the click on the disabled line asked nothing
	}
	r.shows("Cables:", "studio-1 ↔ studio-2   80 Gb/s, RDMA ready", "Disable RDMA…")
	is.Equal(changed(t, r, api.RDMAChangeActive), []api.NodeID{r.Nodes[0].ID, r.Nodes[1].ID})
	r.confirms("Cables:", "studio-1 ↔ studio-2", "Disable RDMA…")
	r.does("zenity --question", "Disable RDMA between studio-1 ↔ studio-2?")
	r.shows("Cables:", "studio-1 ↔ studio-2   80 Gb/s, RDMA can be enabled", "Enable RDMA…")
	is.Equal(changed(t, r, api.RDMAChangeUndone), []api.NodeID{r.Nodes[0].ID, r.Nodes[1].ID})
}

// changed waits for the two ends of a change to be in a state, and gives them,
// in the order of the desk.
func changed(t *testing.T, r *rig, state api.RDMAChangeState) (nodes []api.NodeID) {
	t.Helper()
	var view client.View
	for event, err := range r.Nodes[0].Client.Watch(t.Context(), api.StateSelect{Kinds: []api.Kind{api.KindRDMAChange}}) {
		if err != nil {
			t.Fatal(err)
		}
		view.Apply(event)
		at := map[api.NodeID]bool{}
		for _, d := range view.Docs() {
			var c api.RDMAChange
			if err := d.Decode(&c); err != nil {
				t.Fatal(err)
			}
			at[d.Node] = at[d.Node] || c.State == state
		}
		nodes = nodes[:0]
		for _, n := range r.Nodes {
			if at[n.ID] {
				nodes = append(nodes, n.ID)
			}
		}
		if len(nodes) == 2 {
			return nodes
		}
	}
	t.Fatalf("the changes are %s at %v only", state, nodes)
	return nil
}

// measures clicks what measures: a path and a GPU, as fast as the scenario says.
// Who looks has measured what is missing; what is newer after a click is its work.
func measures(t *testing.T, r *rig) {
	for _, what := range []struct {
		api.Kind
		clicks [][]string
	}{
		{api.KindLinkProfile, [][]string{{"Cables:", "studio-1 ↔ studio-2", "Measure Again"}, {"Measure Now"}}},
		{api.KindGPUProfile, [][]string{{"studio-1", "Measure Its GPU"}}},
	} {
		last := measured(t, r, what.Kind, api.Time{})
		for _, click := range what.clicks {
			measurementsEnd(t, r)
			r.click(click...)
			last = measured(t, r, what.Kind, last)
		}
	}
	r.shows("studio-1", "24 TFLOPS, memory 661 GB/s")
}

// measurementsEnd waits until those that the first Mac knows of have ended: their
// results are there a moment before, and who asks in that moment joins them.
func measurementsEnd(t *testing.T, r *rig) {
	t.Helper()
	is := is.New(t)
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	list, err := client.Call[api.MeasureListResult](ctx, r.Nodes[0].Client, "measure.list", nil)
	is.NoErr(err)
	for _, m := range list.Measurements {
		_, changes, err := client.Stream[api.MeasureStarted, api.MeasureChanged](ctx, r.Nodes[0].Client, "measure.watch", api.MeasureSelect{Measurement: m.ID})
		is.NoErr(err)
		for change, err := range changes {
			is.NoErr(err)
			if change.Terminal {
				break
			}
		}
	}
}

// measured waits until the path over the cable of the two Studios, or the GPU of
// the first, was measured after a time, and gives when.
func measured(t *testing.T, r *rig, kind api.Kind, after api.Time) (at api.Time) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	var view client.View
	for event, err := range r.Nodes[0].Client.Watch(ctx, api.StateSelect{Kinds: []api.Kind{kind}}) {
		if err != nil {
			t.Fatal(err)
		}
		view.Apply(event)
		for _, d := range view.Docs() {
			var p struct {
				MeasuredAt   api.Time `json:"measured_at"`
				UpBitsPerS   int64    `json:"up_bits_per_s"`
				DownBitsPerS int64    `json:"down_bits_per_s"`
				FP16TFLOPS   float64  `json:"fp16_tflops"`
			}
			if err := d.Decode(&p); err != nil {
				t.Fatal(err)
			}
			if (min(p.UpBitsPerS, p.DownBitsPerS) == 52_600_000_000 || p.FP16TFLOPS == 23.6) && p.MeasuredAt.After(after.Time) {
				return p.MeasuredAt
			}
		}
	}
	t.Fatalf("no %s is newer than %s", kind, after)
	return at
}
